import { randomUUID } from 'node:crypto'
import { AgentClient, ProblemError } from './client.ts'

type Redaction = { redactedContent: string; entities: { type: string; start: number; end: number }[] }
type Wait = { waitedSeconds: number }

const { BASE_URL = 'http://127.0.0.1:3000', API_TOKEN = '' } = process.env
const client = new AgentClient({ baseUrl: BASE_URL, token: API_TOKEN })

// A synchronous run returns the output.
const redaction = await client.run<Redaction>('redact-pii', { content: 'Write to ada@example.com.' })
console.log(`sync: ${redaction.redactedContent}`)

// An asynchronous run returns an execution record. Wait for its output without polling in a tight loop.
const execution = await client.start<Wait>('wait', { seconds: 1 })
console.log(`async: ${execution.status}`)
const { waitedSeconds } = await client.waitForOutput<Wait>(execution.id)
console.log(`async: waited ${Math.round(waitedSeconds)} second`)

// The same key and body lead to the same execution, so a request can be repeated safely.
const idempotencyKey = randomUUID()
const first = await client.start<Wait>('wait', { seconds: 0 }, { idempotencyKey })
const second = await client.start<Wait>('wait', { seconds: 0 }, { idempotencyKey })
console.log(`idempotency: same execution ${first.id === second.id}`)

// Branch on the code of an error, not on its text.
try {
  await client.run('redact-pii', { contents: 'Hello' }, { enforceInputSchema: true })
} catch (error) {
  if (!(error instanceof ProblemError)) throw error
  const { code, status, errors = [] } = error.problem
  switch (code) {
    case 'InputSchemaMismatch':
      console.log(`error: ${status} ${code} at ${errors.map(({ path }) => path).join(', ')}`)
      break
    case 'Unauthorized':
      console.log('error: set API_TOKEN to a valid token')
      break
    default:
      throw error
  }
}
