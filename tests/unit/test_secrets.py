"""SP-08: what counts as a secret, and what only speaks of one."""

from __future__ import annotations

import pytest

from impressmem_integrations.core.secrets import masked
from impressmem_integrations.tools.arguments import read_organize, read_save


@pytest.mark.parametrize(
    "text",
    [
        "my password is #",
        "the password for my mail account is #",
        "password = #",
        "PIN: #",
        "mein Passwort ist #",
        "Das Passwort für mein WLAN zu Hause lautet #",
        "Kennwort: #",
        "Das Passwort ist „#“",
        "Geheimzahl ist #",
        "mon mot de passe est #",
        "le mot de passe du wifi : #",
        "mi contraseña es #",
        "La contraseña de mi correo es #",
        "clave de acceso: #",
        "我的密码是#",
        "密碼改成 #",
        "パスワードは#",
        "비밀번호: #",
    ],
)
def test_sp08_what_is_said_to_be_a_password_goes(text: str) -> None:
    assert masked(text.replace("#", "geheim123")) == text.replace("#", "[secret]")


@pytest.mark.parametrize(
    "text",
    [
        "no Firebase API key in this build",
        "the password is strong",
        "Passwort vergessen",
        "Ich habe mein Passwort am 3. Mai vergessen.",
        "Mein Passwort ist sicher.",
        "Das Login ist um 10:30",
        "mot de passe oublié",
        "le mot de passe est-elle assez longue",
        "contraseña olvidada",
        "La contraseña es demasiado larga",
        "la clave es 100% constancia",
        "密码忘了",
        "验证码是什么",
    ],
)
def test_sp08_what_only_speaks_of_one_stays(text: str) -> None:
    assert masked(text) == text


def item(**fields: object) -> dict[str, object]:
    return {"clue": "A", "content": "b", "category": "C", "labels": ["D"], **fields}


def test_sp08_what_a_model_saves_is_masked_and_it_is_told() -> None:
    given = item(content="mein Passwort ist geheim123", category="PIN: 47x11", labels=["PIN: 47x11", "PIN: 47x12"])
    read = read_save({"impressions": [given, item(clue="E")]})
    first, second = read.items
    assert (first.content, first.category, first.labels) == ("mein Passwort ist [secret]", "PIN: [secret]",
                                                             ("PIN: [secret]",))  # fmt: skip
    assert (second.clue, second.content) == ("E", "b")
    assert {warning.split(" held")[0] for warning in read.warnings} == {
        f"impressions[0]: {field}" for field in ("content", "category", "labels")
    }
    assert "geheim123" not in str(read)


def test_sp08_a_secret_is_no_clue() -> None:
    read = read_save({"impressions": [item(clue="password: hunter2!")]})
    assert read.items == ()
    assert "clue holds a secret" in read.errors[0].message
    assert "hunter2" not in str(read)


def test_sp08_a_merge_is_masked_too() -> None:
    read = read_organize(
        {
            "level": "clue", "from_items": ["A"], "to_item": "B", "new_content": "password is hunter2!",
            "reason": "the password is hunter2!", "check": "x", "is_redundant": True, "is_confirm": True,
        }
    )  # fmt: skip
    assert (read.new_content, read.reason) == ("password is [secret]", "the password is [secret]")
    assert len(read.warnings) == 2
