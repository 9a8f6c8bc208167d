// From npm: import { AgentError, Client } from 'agent-execution-client'
import { AgentError, Client } from '../../clients/typescript/src/index.ts'
import type { Agents } from './agents.ts'

const { BASE_URL = 'http://127.0.0.1:3000', API_TOKEN = '' } = process.env
const client = new Client<Agents>({ baseUrl: BASE_URL, token: API_TOKEN })

// A synchronous run returns the output. `agent-execution types` has written its type.
const redaction = await client.run('redact-pii', { content: 'Write to ada@example.com.' })
console.log(`sync: ${redaction.redactedContent}`)

// An asynchronous run returns an execution record, whose output you can wait for.
const execution = await client.start('wait', { seconds: 1 })
console.log(`async: ${execution.status}`)
const { output } = await client.wait(execution)
console.log(`async: waited ${Math.round(output.waitedSeconds)} second`)

// The same key and input lead to the same execution, also from another process.
const options = { idempotencyKey: crypto.randomUUID() }
const first = await client.start('wait', { seconds: 0 }, options)
const second = await client.start('wait', { seconds: 0 }, options)
console.log(`idempotency: same execution ${first.id === second.id}`)

// Branch on the code of an error, not on its text.
try {
  // @ts-expect-error: the field is called content
  await client.run('redact-pii', { contents: 'Hello' }, { enforceInputSchema: true })
} catch (error) {
  if (!(error instanceof AgentError)) throw error
  switch (error.code) {
    case 'InputSchemaMismatch':
      console.log(
        `error: ${error.status} ${error.code} at ${error.errors.map(({ path }) => path).join(', ')}`,
      )
      break
    case 'Unauthorized':
      console.log('error: set API_TOKEN to a valid token')
      break
    default:
      throw error
  }
}
