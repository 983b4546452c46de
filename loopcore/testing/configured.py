"""What is no configuration, refused where it is given and not where it is first used."""

from typing import Any, Final

from loopcore.config import AnyConfig, LoopConfig

NO_CONFIG: Final = "{} takes a LoopConfig first; it got {!r:.80}"


def configured(who: str, config: Any) -> AnyConfig:  # noqa: ANN401  # whatever is given
    """This configuration.

    Raises:
        TypeError: for anything else, saying who takes one.
    """
    if not isinstance(config, LoopConfig):
        raise TypeError(NO_CONFIG.format(who, config))
    return config  # pyright: ignore[reportUnknownVariableType]  # of any output
