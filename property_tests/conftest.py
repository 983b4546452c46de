"""How hard Hypothesis tries, by HYPOTHESIS_PROFILE; `dev` if it is not set."""

import os

from hypothesis import Phase, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=500, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=20_000, deadline=None)
settings.register_profile(  # a mutant is to be caught, not explained: nothing is shrunk
    "mutants",
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
