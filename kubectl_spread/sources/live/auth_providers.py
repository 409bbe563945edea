"""Authentication by the `auth-provider` of a kubeconfig's user, as in kubectl.

Source: k8s.io/client-go/rest/plugin.go and plugin/pkg/client/auth (v0.36.2).
Difference: an expired OIDC token is not renewed. Renewing it would contact another server than the cluster's, and
rewrite the kubeconfig.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

Plain = dict[str, Any]
Error = Callable[[str, str], Exception]

_REMOVED = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin"}
_EARLY_S = 10  # client-go's expiryDelta


def with_token(user: Plain, error: Error) -> Plain:
    """Return the user with the token of its auth provider instead of the provider.

    Args:
        user: of a kubeconfig.
        error: returns the exception for a field and a message.

    Raises:
        SourceError: kubectl refuses the provider, or its token has expired.
    """
    provider = user.get("auth-provider")
    if provider is None:
        return user
    name, config = str(provider.get("name") or ""), provider.get("config") or {}
    if name in _REMOVED:
        message = f"the {name} auth plugin has been removed from kubectl: use the exec plugin {_REMOVED[name]} instead"
        raise error("auth-provider", message)
    if name != "oidc":
        raise error("auth-provider", f"no auth provider found for name `{name}`")
    rest = {key: value for key, value in user.items() if key != "auth-provider"}
    if rest.get("token") or rest.get("tokenFile"):
        return rest
    token = str(config.get("id-token") or "")
    if not token:
        raise error("auth-provider", "the oidc auth provider has no `id-token`; log in first")
    if _expiry_s(token, error) < time.time() + _EARLY_S:
        message = (
            "the `id-token` of the oidc auth provider has expired; any kubectl command renews it, "
            "such as `kubectl version`"
        )
        raise error("auth-provider", message)
    return {**rest, "token": token}


def _expiry_s(token: str, error: Error) -> float:
    """Return when a JSON Web Token expires, in seconds since 1970."""
    try:
        _, claims, _ = token.split(".")
        expiry = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]
        return float(expiry)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise error("auth-provider", "the `id-token` of the oidc auth provider is not a JSON Web Token") from None
