/** Returns programs that show the owner of a token, by language. */
export const tokenSnippets = (origin: string, token: string): Readonly<Record<string, string>> => ({
  curl: `curl -H 'Authorization: Bearer ${token}' '${origin}/api/users.php?action=me'`,
  TypeScript: `import { createClient } from '@parley-chat/sdk';

const parley = createClient({ url: '${origin}', token: '${token}' });
const { user } = await parley.users.me({});
console.log(user.name);`,
  Python: `import json, urllib.request

request = urllib.request.Request(
    "${origin}/api/users.php?action=me",
    headers={"Authorization": "Bearer ${token}"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["user"]["name"])`,
});
