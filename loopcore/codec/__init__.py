"""The JSON form of every record, made from its annotations and read strictly.

The rules, for whoever reads a saved file:

* A record is an object of its fields. A field that equals its default is left out, and
  so is one that is UNSET.
* Where one of several records is possible, the object says which: `"type": "Text"`.
  Where any JSON is possible beside them, that is wrapped: `{"json": ...}`.
* Where anything at all is possible (`Any`), JSON stands as it is, and a registered
  record says `"$record": "TurnUpdate"`. A JSON object that happens to hold the key
  `$record` is wrapped: `{"$record": null, "json": ...}`. Only the top of such a value
  is looked at, as no record lies deeper.
* Tuples and vectors are arrays.

Reading goes through the constructors, so that converters and validators have their say.
Encoders and decoders are made once per type.
"""

from loopcore.codec.decode import from_json
from loopcore.codec.encode import to_json
from loopcore.codec.error import DecodeError
from loopcore.codec.kinds import Code, register, special
from loopcore.codec.plain import as_array, as_object
from loopcore.codec.refer import Stored

__all__ = [
    "Code",
    "DecodeError",
    "Stored",
    "as_array",
    "as_object",
    "from_json",
    "register",
    "special",
    "to_json",
]
