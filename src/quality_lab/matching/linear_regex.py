"""Regular expressions from outside, by an engine that takes linear time whatever it is given."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache


class RegexProblem(ValueError):
    """A regular expression that the engine does not take; the text says what it does not like."""


@lru_cache(maxsize=1024)
def whole_match(pattern: str) -> Callable[[str], bool]:
    r"""Return the question whether a text is, from its first to its last character, what *pattern* describes.

    >>> whole_match(r"SP-\d+")("SP-12"), whole_match(r"SP-\d+")("an SP-12")
    (True, False)

    Raises:
        RegexProblem: the pattern is none, or asks for look-around or back-references.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # read only where a rule needs it

    try:
        for spelling in (pattern, rf"\A(?:{pattern})\z"):  # alone too, so that no bracket closes the group
            validator = SchemaValidator(core_schema.str_schema(pattern=spelling, regex_engine="rust-regex"))
    except (SchemaError, UnicodeEncodeError) as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if line.startswith("error:")), lines[-1])
        said = reason.removeprefix("error: ")
        raise RegexProblem(f"no regular expression in linear time: {said}") from None

    def matches(text: str) -> bool:
        try:
            return validator.isinstance_python(text, strict=True)
        except UnicodeEncodeError:  # a lone surrogate, which no expression can name
            return False

    return matches
