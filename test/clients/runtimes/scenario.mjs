/**
 * Uses the installed client in any runtime: it takes no more than web standards. Returns what it saw, for a comparison.
 * `baseUrl` and `token` of a service with the sample agents.
 */
import { AgentError, Client, parseWebhook } from 'agent-execution-client'

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

  // The test vector of Standard Webhooks, at its time. It is not an event of the service.
  const now = Date.now
  Date.now = () => 1_614_265_330_000
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const verify = (body) =>
    parseWebhook(body, headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').catch(({ reason }) => reason)
  seen.webhooks = [await verify('{"test": 2432232314}'), await verify('{}')]
  Date.now = now

  const nowhere = new Client({ baseUrl: 'http://127.0.0.1:9', token, maxRetries: 1 })
  seen.nowhere = await nowhere.me().catch(({ code }) => code)
  return seen
}
