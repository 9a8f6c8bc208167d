import { program } from 'commander'
import { textTable } from '../text-table.ts'
import { type Visit, walk } from './walk.ts'

/** `npm run smoke -- <baseUrl> <token>`: exit code 1 when a route did not answer as it has to. */
program
  .name('npm run smoke --')
  .description(
    'Walks every route of a service, with and without a slash at its end, and reports how each answered.',
  )
  .argument('<baseUrl>', 'the stack’s output BaseUrl, or the address that npm start prints')
  .argument('<token>', 'an API token')
  .option('--agent <slug>', 'an agent to run; it should be quick', 'redact-pii')
  .option('--input <json>', 'what to send it', '{"content":"Write to ada@example.com."}')
  .option('--json', 'print one JSON document')
  .parse()

const [baseUrl = '', token = ''] = program.args
const { agent, input, json } = program.opts<{ agent: string; input: string; json?: true }>()
const isRight = ({ status, expected }: Visit) => status === expected

const visits = await walk({
  baseUrl: baseUrl.replace(/\/+$/, ''),
  token,
  agent,
  input: inputOf(input),
  onVisit: (visit) => {
    if (!json && process.stderr.isTTY) process.stderr.write(isRight(visit) ? '.' : 'x')
  },
})
const wrong = visits.filter((visit) => !isRight(visit))
const rows = visits.map(({ method, path, expected, status, ms, note }) => [
  status === expected ? 'ok' : 'WRONG',
  method,
  path.replace(/[0-9a-f-]{36}/, '{id}'),
  String(status ?? 'no answer'),
  `${ms} ms`,
  status === expected ? '' : `expected ${expected}. ${note}`,
])
if (json) console.log(JSON.stringify({ wrong: wrong.length, visits }, null, 2))
else {
  if (process.stderr.isTTY) process.stderr.write('\n')
  console.log(textTable(['', 'METHOD', 'PATH', 'STATUS', 'TIME', ''], rows))
  console.log(`\n${visits.length} requests, ${wrong.length} answered wrongly.`)
}
process.exit(wrong.length > 0 ? 1 : 0)

function inputOf(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    console.error(`--input is not JSON: ${text.slice(0, 80)}`)
    process.exit(2)
  }
}
