import { program } from 'commander'
import { textTable } from '../format.ts'
import { callRoutes, type Result } from './call-routes.ts'

/** `npm run smoke -- <baseUrl> <token>`. Exit codes: 0 success, 1 unexpected status, 2 wrong usage. */
program
  .name('npm run smoke --')
  .description(
    'Call every route of a service with and without a trailing slash, and compare the status codes with the expected ones.',
  )
  .argument('<baseUrl>', 'the BaseUrl output of the stack, or the URL that npm start prints')
  .argument('<token>', 'an API token')
  .option('--agent <slug>', 'agent to run; choose one that finishes within seconds', 'redact-pii')
  .option('--input <json>', "the agent's input", '{"content":"Write to ada@example.com."}')
  .option('--json', 'print one JSON document to stdout')
  .parse()

const [baseUrl = '', token = ''] = program.args
const { agent, input, json } = program.opts<{ agent: string; input: string; json?: true }>()
const isExpected = ({ status, expected }: Result) => status === expected

const results = await callRoutes({
  baseUrl: baseUrl.replace(/\/+$/, ''),
  token,
  agent,
  input: parseInput(input),
  onResult: (result) => {
    if (!json && process.stderr.isTTY) process.stderr.write(isExpected(result) ? '.' : 'x')
  },
})
const failed = results.filter((result) => !isExpected(result))
if (json) console.log(JSON.stringify({ failed: failed.length, results }, null, 2))
else {
  if (process.stderr.isTTY) process.stderr.write('\n')
  console.log(textTable(['', 'METHOD', 'PATH', 'STATUS', 'TIME', ''], results.map(toRow)))
  console.log(`\n${results.length} requests, ${failed.length} failed.`)
}
process.exit(failed.length > 0 ? 1 : 0)

function toRow(result: Result): string[] {
  const { method, path, expected, status, ms, detail } = result
  return [
    isExpected(result) ? 'ok' : 'FAILED',
    method,
    path.replace(/[0-9a-f-]{36}/, '{id}'),
    String(status ?? 'no response'),
    `${ms} ms`,
    isExpected(result) ? '' : `expected ${expected}. ${detail}`,
  ]
}

function parseInput(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    console.error(`--input is not valid JSON: ${text.slice(0, 80)}`)
    process.exit(2)
  }
}
