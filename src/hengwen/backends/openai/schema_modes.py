"""How an endpoint is asked for structure: the strictest form that it takes, found out once and remembered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from hengwen.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from hengwen.errors import BackendError

SchemaMode = Literal["json_schema", "json_object", "tool", "text"]
FORMS: tuple[SchemaMode, ...] = get_args(SchemaMode)
"""From strict to loose. The prompt names the format in words besides, so that ``text`` can work."""

REFUSALS = (400, 404, 422, 501)
"""HTTP statuses by which endpoints say that they do not know a parameter."""

_NAMES: dict[SchemaMode, re.Pattern[str]] = {
    "json_schema": re.compile(r"response[ _]?format|json[ _]?schema|structured[ _]?output", re.IGNORECASE),
    "json_object": re.compile(r"response[ _]?format|json[ _]?(?:object|mode)", re.IGNORECASE),
    "tool": re.compile(r"\btools?\b|tool_|function", re.IGNORECASE),
}


class SchemaModes:
    """What is known of one endpoint and model.

    Args:
        pinned: The form that the plan wants; then no other is tried. None: from strict to loose.

    Raises:
        ConfigError: There is no such form.

    Examples:
        >>> from hengwen.errors import BackendError
        >>> forms = SchemaModes()
        >>> forms.form
        'json_schema'
        >>> refusal = BackendError("the endpoint answered 400: response_format is not supported")
        >>> forms.moves_on(400, refusal, "json_schema", None), forms.form
        (True, 'json_object')
    """

    def __init__(self, pinned: str | None = None) -> None:
        if pinned is not None and pinned not in FORMS:
            raise ConfigError(f"unknown structured {pinned!r}{did_you_mean(str(pinned), FORMS)}")
        self.pinned = pinned is not None
        self.form: SchemaMode = next((form for form in FORMS if form == pinned), FORMS[0])
        self.takes_logprobs = True

    def moves_on(self, status: int, error: BackendError, form: str, logprobs: int | None) -> bool:
        """Return whether the same request may go through in another form, and remember that.

        Only an error that names what was asked for counts. Calls in flight may be refused together: that is
        one step, not many.

        Args:
            status: The HTTP status of the answer.
            error: Made of it.
            form: In which the request was sent; empty where it had no schema.
            logprobs: What it asked for.
        """
        if status not in REFUSALS:
            return False
        words = str(error)
        if logprobs is not None and "logprob" in words.lower():
            self.takes_logprobs = False
            return True
        pattern = next((pattern for known, pattern in _NAMES.items() if known == form), None)
        return pattern is not None and pattern.search(words) is not None and self.refuse(form)

    def refuse(self, form: str) -> bool:
        """Take the step from a form that does not work; return whether there is another.

        Args:
            form: In which a request was sent, or could not be.
        """
        if self.pinned or form not in FORMS[:-1]:
            return False
        if self.form == form:
            self.form = FORMS[FORMS.index(self.form) + 1]
        return True

    def skip_to(self, form: SchemaMode) -> None:
        """Begin with a form, where the stricter ones are known not to work.

        Args:
            form: The strictest that may.
        """
        if not self.pinned and FORMS.index(self.form) < FORMS.index(form):
            self.form = form
