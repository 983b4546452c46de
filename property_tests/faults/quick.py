"""A pytest plugin: the Hypothesis profile `faults` finds a failure and does not shrink it."""

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "faults",
    max_examples=500,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
