"""A marimo notebook in the folder we are in: one cell prepares, one finishes.

Modules are reloaded by marimo itself (`auto_reload = "autorun"`), which then runs the cells
again that use them. A line on stdin runs the last cell, for edits that it takes no notice of.
What the cells print is passed on.
"""

import asyncio
import html
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request

import websockets

NOTEBOOK = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import sys
    import traceback

    import app as project

    return project, sys, traceback


@app.cell
def _(project):
    state = project.prepare()
    return (state,)


@app.cell
def _(project, state, sys, traceback):
    print("---")
    try:
        project.finish(state)
    except Exception:
        traceback.print_exc(file=sys.stdout)
    print("=== end")
    return


if __name__ == "__main__":
    app.run()
"""
SETTINGS = '[tool.marimo.runtime]\nauto_reload = "autorun"\nwatcher_on_save = "autorun"\n'
SESSION = "s_bench1"


class Session:
    def __init__(self, port):
        self.base = f"127.0.0.1:{port}"
        self.token = ""
        self.cells = []

    def get(self):
        with urllib.request.urlopen(f"http://{self.base}/?file=notebook.py", timeout=5) as page:
            found = re.search(r'serverToken["\': ]+"?([^",<]+)', page.read().decode())
        self.token = found.group(1) if found else ""

    def post(self, path, body):
        headers = {
            "Content-Type": "application/json",
            "Marimo-Session-Id": SESSION,
            "Marimo-Server-Token": self.token,
        }
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.base}{path}", data, headers)
        urllib.request.urlopen(request, timeout=10).close()

    async def follow(self):
        for _ in range(100):
            try:
                self.get()
                break
            except OSError:
                await asyncio.sleep(0.2)
        address = f"ws://{self.base}/ws?session_id={SESSION}&file=notebook.py"
        async with websockets.connect(address, max_size=None) as wire:
            ready = json.loads(await wire.recv())["data"]
            self.cells = list(zip(ready["cell_ids"], ready["codes"], strict=True))
            start = {"objectIds": [], "values": [], "autoRun": True}
            await asyncio.to_thread(self.post, "/api/kernel/instantiate", start)
            asyncio.get_running_loop().add_reader(0, self.finish_again)
            async for message in wire:
                self.pass_on(json.loads(message).get("data") or {})

    def finish_again(self):
        if not os.read(0, 4096):
            asyncio.get_running_loop().remove_reader(0)
            return
        cell, code = self.cells[-1]
        self.post("/api/kernel/run", {"cellIds": [cell], "codes": [code]})

    @staticmethod
    def pass_on(data):
        console = data.get("console") or []
        for part in console if isinstance(console, list) else [console]:
            if part.get("channel") == "stdout":
                os.write(1, str(part["data"]).encode())
            elif part.get("mimetype", "").endswith("traceback"):  # of the import, as HTML
                plain = html.unescape(re.sub(r"<[^>]*>", "", str(part["data"])))
                os.write(1, f"{plain.strip()}\n=== end\n".encode())


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    for name, text in (("notebook.py", NOTEBOOK), ("pyproject.toml", SETTINGS)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    port = free_port()
    options = ["--headless", "--no-token", "--skip-update-check", "--watch", "-p", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", "marimo", "-q", "edit", *options, "notebook.py"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        asyncio.run(Session(port).follow())
    finally:
        server.terminate()


main()
