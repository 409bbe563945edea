"""A CA of the tests, and certificates that it signs."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple


class Authority(NamedTuple):
    """A CA, and certificates that it signed."""

    ca: Path
    server: ssl.SSLContext
    client_cert: Path
    client_key: Path


def authority(folder: Path) -> Authority:
    """Certificates of 127.0.0.1 and of the user jane, in a folder."""
    _issue(folder, "ca", "/CN=kubernetes-ca", signed_by="")
    _issue(folder, "server", "/CN=kube-apiserver", signed_by="ca", names="IP:127.0.0.1,DNS:kubernetes")
    _issue(folder, "jane", "/O=team/CN=jane", signed_by="ca")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    context.load_verify_locations(folder / "ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL
    return Authority(folder / "ca.crt", context, folder / "jane.crt", folder / "jane.key")


def _issue(folder: Path, name: str, subject: str, *, signed_by: str, names: str = "") -> None:
    key = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        str(folder / f"{name}.key"),
    ]
    if not signed_by:
        args = ["req", "-x509", *key, "-subj", subject, "-days", "2", "-out", str(folder / f"{name}.crt")]
        subprocess.run(["openssl", *args], check=True, capture_output=True)
        return
    request = folder / f"{name}.csr"
    subprocess.run(["openssl", "req", *key, "-subj", subject, "-out", str(request)], check=True, capture_output=True)
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={names}\n" if names else "extendedKeyUsage=clientAuth\n")
    ca = ["-CA", str(folder / f"{signed_by}.crt"), "-CAkey", str(folder / f"{signed_by}.key"), "-CAcreateserial"]
    out = ["-days", "2", "-extfile", str(extensions), "-out", str(folder / f"{name}.crt")]
    subprocess.run(["openssl", "x509", "-req", "-in", str(request), *ca, *out], check=True, capture_output=True)
