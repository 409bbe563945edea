"""A headless Chromium for tests of pages; tests that need it are skipped where there is none.

A page is loaded into frames of a test page, one for each width. The page's own policy is in force there. JavaScript of
the test runs outside of it, and its results come back as JSON in the DOM that Chromium prints.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--allow-file-access-from-files",
]
_FRAMES = """\
<!DOCTYPE html><title>frames</title><body><script>
const pages = PAGES, code = CODE, found = [];
const done = () => {
  const pre = document.createElement("pre");
  pre.id = "found"; pre.textContent = JSON.stringify(found); document.body.append(pre);
};
(async () => {
  for (const [page, width] of pages) {
    const frame = document.createElement("iframe");
    frame.style = `width: ${width}px; height: 900px; border: 0`;
    const loaded = new Promise(resolve => frame.onload = resolve);
    frame.src = page; document.body.append(frame);
    await loaded;
    try { found.push(await code(frame.contentDocument, frame.contentWindow)); }
    catch (error) { found.push({error: String(error)}); }
    frame.remove();
  }
  done();
})();
</script>
"""


def run_in_pages(
    pages: Sequence[tuple[Path, int]], code: str, folder: Path, *, dark: bool = False, script: bool = True
) -> list[Any]:
    """Return the results of a JavaScript function of (document, window), for each page at its width.

    With `script=False` the pages' own scripts do not run.
    """
    frames = folder / "frames.html"
    text = _FRAMES.replace("PAGES", json.dumps([(page.as_uri(), width) for page, width in pages]))
    text = text.replace("CODE", f"({code})")
    if not script:
        text = text.replace(
            'document.createElement("iframe");',
            'document.createElement("iframe"); frame.sandbox = "allow-same-origin";',
        )
    frames.write_text(text, encoding="utf-8")
    flags = [*FLAGS, f"--user-data-dir={folder / 'user'}", "--virtual-time-budget=60000", "--dump-dom"]
    flags += ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run([CHROMIUM, *flags, frames.as_uri()], capture_output=True, text=True, timeout=300, check=True)
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    result: list[Any] = json.loads(html.unescape(found))
    return result
