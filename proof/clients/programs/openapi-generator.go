package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	parley "parley.example/client"
)

var (
	name     = os.Getenv("CLIENT")
	content  = "The file of " + name + "\n"
	uploaded int64
)

func step(title string, run func() (bool, error)) {
	isRight, err := run()
	outcome := "ok"
	if err != nil {
		outcome = strings.ReplaceAll(err.Error(), "\n", " ")
	} else if !isRight {
		outcome = "the response is not the expected one"
	}
	fmt.Printf("%s\t%s\n", title, outcome)
}

func main() {
	configuration := parley.NewConfiguration()
	configuration.Servers = parley.ServerConfigurations{{URL: os.Getenv("PARLEY_API")}}
	client := parley.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), parley.ContextAccessToken, os.Getenv("PARLEY_TOKEN"))
	chatID, _ := strconv.ParseInt(os.Getenv("CHAT_ID"), 10, 64)

	step("send", func() (bool, error) {
		input := parley.NewSendMessageInput(chatID)
		input.SetContent("Hello from " + name)
		sent, _, err := client.MessagesAPI.SendMessage(ctx).SendMessageInput(*input).Execute()
		return err == nil && sent.Message.Content == input.GetContent() && !sent.Message.EditedAt.IsSet() ||
			err == nil && sent.Message.EditedAt.Get() == nil, err
	})

	step("list", func() (bool, error) {
		page, _, err := client.ChatsAPI.ChatsList(ctx).Scope("mine").Limit(10).Execute()
		if err != nil {
			return false, err
		}
		for _, chat := range page.Chats {
			if chat.ChatId == chatID {
				return true, nil
			}
		}
		return false, nil
	})

	step("upload", func() (bool, error) {
		folder, err := os.MkdirTemp("", "parley")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, "plan.txt")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return false, err
		}
		file, err := os.Open(path)
		if err != nil {
			return false, err
		}
		stored, _, err := client.FilesAPI.FilesUpload(ctx).File(file).Execute()
		if err != nil {
			return false, err
		}
		uploaded = stored.File.FileId
		return stored.File.Name == "plan.txt", nil
	})

	step("download", func() (bool, error) {
		file, _, err := client.FilesAPI.FilesDownload(ctx).FileId(uploaded).Execute()
		if err != nil {
			return false, err
		}
		bytes, err := io.ReadAll(file)
		return string(bytes) == content, err
	})

	step("webhook", func() (bool, error) {
		input := parley.NewWebhooksRegisterInput(os.Getenv("HOOK_URL"), []string{"new_message"}, "a secret of sixteen")
		registered, _, err := client.WebhooksAPI.WebhooksRegister(ctx).WebhooksRegisterInput(*input).Execute()
		return err == nil && registered.Webhook.Status == "active", err
	})

	step("error", func() (bool, error) {
		_, response, err := client.ChatsAPI.ChatsGet(ctx).ChatId(999_999).Execute()
		var failure *parley.GenericOpenAPIError
		if response == nil || !errors.As(err, &failure) {
			return false, err
		}
		body, isError := failure.Model().(parley.Error)
		return response.StatusCode == http.StatusNotFound && isError && body.Error.Code == "not_found", nil
	})
}
