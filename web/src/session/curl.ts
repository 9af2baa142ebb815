// A call as somebody else can repeat it in a shell.
export function curlOf(method: string, path: string, body?: unknown): string {
  const parts = [`curl -X ${method} ${quote(location.origin + path)}`];
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
