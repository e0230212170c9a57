import io
import os

from parley_client import AuthenticatedClient
from parley_client.api.chats import chats_get, chats_list
from parley_client.api.files import files_download, files_upload
from parley_client.api.messages import send_message
from parley_client.api.webhooks import webhooks_register
from parley_client.models import ChatsListScope, FilesUploadForm, SendMessageInput, WebhooksRegisterInput
from parley_client.types import File

name = os.environ["CLIENT"]
chat_id = int(os.environ["CHAT_ID"])
client = AuthenticatedClient(base_url=os.environ["PARLEY_API"], token=os.environ["PARLEY_TOKEN"])
content = f"The file of {name}\n".encode()
uploaded = 0


def step(title, run):
    try:
        outcome = "ok" if run() else "the response is not the expected one"
    except Exception as error:
        outcome = repr(error).replace("\n", " ")
    print(f"{title}\t{outcome}", flush=True)


def send():
    body = SendMessageInput(chat_id=chat_id, content=f"Hello from {name}")
    sent = send_message.sync(client=client, body=body)
    return sent.message.content == body.content and sent.message.edited_at is None


def list_chats():
    page = chats_list.sync(client=client, scope=ChatsListScope.MINE, limit=10)
    return any(chat.chat_id == chat_id for chat in page.chats)


def upload():
    global uploaded
    body = FilesUploadForm(file=File(payload=io.BytesIO(content), file_name="plan.txt"), name="plan.txt")
    uploaded = files_upload.sync(client=client, body=body).file.file_id
    return True


def download():
    return files_download.sync(client=client, file_id=uploaded).payload.read() == content


def register():
    body = WebhooksRegisterInput(url=os.environ["HOOK_URL"], events=["new_message"], secret="a secret of sixteen")
    return webhooks_register.sync(client=client, body=body).webhook.status == "active"


def fail():
    response = chats_get.sync_detailed(client=client, chat_id=999_999)
    return response.status_code == 404 and response.parsed.error.code == "not_found"


step("send", send)
step("list", list_chats)
step("upload", upload)
step("download", download)
step("webhook", register)
step("error", fail)
