/**
 * Uses the installed client in any runtime: it takes no more than web standards. Returns what it saw, for a comparison.
 * `baseUrl` and `token` of a service with the sample agents.
 */
import { AgentError, Client } from 'agent-execution-client'

export async function useClient(baseUrl, token) {
  const client = new Client({ baseUrl, token })
  const seen = {}

  seen.run = await client.run('redact-pii', { content: 'Write to ada@example.com.' })

  const started = await client.start('wait', { seconds: 0.1 })
  seen.waited = (await client.wait(started)).status

  seen.events = []
  for await (const { event, data } of client.stream('wait', { seconds: 0.1 }))
    seen.events.push(event === 'status' ? data.status : event)

  seen.executions = 0
  for await (const { id } of client.executions({ agent: 'wait', limit: 1 })) {
    seen.executions += 1
    await client.delete(id)
  }

  try {
    await client.run('redact-pii', { contents: 'x' }, { enforceInputSchema: true })
  } catch (error) {
    seen.error = error instanceof AgentError && [
      error.status,
      error.code,
      error.errors.map(({ path }) => path),
    ]
  }

  const controller = new AbortController()
  setTimeout(() => controller.abort('enough'), 100)
  const options = {
    signal: controller.signal,
    cancelOnAbort: true,
    idempotencyKey: `aborted in ${globalThis.navigator?.userAgent}`,
  }
  seen.abort = await client.run('wait', { seconds: 60 }, options).catch((reason) => reason)
  delete options.signal
  seen.aborted = (await client.start('wait', { seconds: 60 }, options)).error.code

  const nowhere = new Client({ baseUrl: 'http://127.0.0.1:9', token, maxRetries: 1 })
  seen.nowhere = await nowhere.me().catch(({ code }) => code)
  return seen
}
