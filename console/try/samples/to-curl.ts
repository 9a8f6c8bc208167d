import { INPUT_FILE, runUrl, type SampleRequest, TOKEN_VARIABLE } from './sample-request.ts'

/** A command for POSIX shells. */
export function toCurl(request: SampleRequest): string {
  const { input } = request
  const body = input === null ? `--data-binary @${INPUT_FILE}` : `--data-raw ${quote(input)}`
  return [
    `curl -sS ${quote(runUrl(request))}`,
    `  -H "Authorization: Bearer $${TOKEN_VARIABLE}"`,
    "  -H 'Content-Type: application/json'",
    `  ${body}`,
  ].join(' \\\n')
}

/** Between single quotes, a shell changes nothing. A single quote itself cannot be there. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
