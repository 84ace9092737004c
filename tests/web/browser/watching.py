"""What happens behind a page while a test uses it: nothing may, but what the test expects."""

import re

# The browser's own words on how it draws, not ours: reading pixels back makes the card wait.
_OF_THE_BROWSER = r"GL Driver Message"


class Watch:
    """Everything in one browser context that a user would not see.

    Parameters
    ----------
    context : BrowserContext
        What is watched, from its first page on.
    """

    def __init__(self, context):
        self.happened = []
        self._expected = [_OF_THE_BROWSER]
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("console", self._console)
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.happened.append(f"error: {error.error}"))

    def expect(self, pattern):
        """Let something pass from now on, such as the console's words on a server that is gone."""
        self._expected.append(pattern)

    @property
    def unexpected(self):
        """What happened, and should not have."""
        pattern = re.compile("|".join(self._expected))
        return [event for event in self.happened if not pattern.search(event)]

    def _request(self, request):
        if not re.match(r"http://127\.0\.0\.1:|blob:http://127\.0\.0\.1:", request.url):
            self.happened.append(f"request to elsewhere: {request.url}")

    def _response(self, response):
        if response.status >= 500:
            self.happened.append(f"status {response.status}: {response.url}")

    def _console(self, message):
        # What the content policy stops is told here as an error, too.
        if message.type in ("error", "warning", "assert"):
            where = message.location.get("url", "")
            self.happened.append(f"console {message.type}: {message.text} ({where})")

    def _dialog(self, dialog):
        self.happened.append(f"dialog: {dialog.message}")
        dialog.dismiss()
