import json
import os

from parley_client import ApiClient, Configuration, ChatsApi, FilesApi, MessagesApi, WebhooksApi
from parley_client.exceptions import NotFoundException
from parley_client.models import SendMessageInput, WebhooksRegisterInput

name = os.environ["CLIENT"]
chat_id = int(os.environ["CHAT_ID"])
client = ApiClient(Configuration(host=os.environ["PARLEY_API"], access_token=os.environ["PARLEY_TOKEN"]))
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
    sent = MessagesApi(client).send_message(body)
    return sent.message.content == body.content and sent.message.edited_at is None


def list_chats():
    page = ChatsApi(client).chats_list(scope="mine", limit=10)
    return any(chat.chat_id == chat_id for chat in page.chats)


def upload():
    global uploaded
    uploaded = FilesApi(client).files_upload(file=("plan.txt", content), name="plan.txt").file.file_id
    return True


def download():
    return bytes(FilesApi(client).files_download(file_id=uploaded)) == content


def register():
    body = WebhooksRegisterInput(url=os.environ["HOOK_URL"], events=["new_message"], secret="a secret of sixteen")
    return WebhooksApi(client).webhooks_register(body).webhook.status == "active"


def fail():
    try:
        ChatsApi(client).chats_get(chat_id=999_999)
    except NotFoundException as error:
        return json.loads(error.body)["error"]["code"] == "not_found"
    return False


step("send", send)
step("list", list_chats)
step("upload", upload)
step("download", download)
step("webhook", register)
step("error", fail)
