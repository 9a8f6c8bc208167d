import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { hasPython, installPython } from '../support/processes/python-environment.ts'
import { createLocalClient, getExecutionId } from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { serve } from '../tools/serve.ts'

const NOTIFICATIONS = new URL('../nightly/notifications/python/', import.meta.url)
const CODE = `
from standardwebhooks import Webhook, WebhookVerificationError

def receive(body, headers, secret):
    try:
        return Webhook(secret).verify(body, headers)["data"]["id"]
    except WebhookVerificationError as error:
        return str(error)
`
/** Time for pip to install the package. */
const TIMEOUT_MS = 300_000

/** The command of an environment with the public package, or why there is none. */
async function findPython(): Promise<{ python: string } | { missing: string }> {
  if (!(await hasPython())) return { missing: 'python3 is not installed, or too old' }
  return installPython(new URL('requirements.txt', NOTIFICATIONS)).then(
    (command) => ({ python: command('python') }),
    (error: Error) => ({ missing: `pip cannot install standardwebhooks: ${error.message.slice(-500)}` }),
  )
}

const services = temporaryServices()

it('sends what the package standardwebhooks of PyPI verifies', { timeout: TIMEOUT_MS }, async ({ skip }) => {
  const found = await findPython()
  if ('missing' in found) return skip(found.missing)
  const folder = services.newFolder()
  const { url } = await services.start(folder)
  const call = createLocalClient(url, folder)
  const receiver = await serve((response) => response.writeHead(204).end())
  const body = { url: receiver.url, allowedHosts: [receiver.host] }
  const { status, text, json } = await call('POST', '/v1/webhooks', { body })
  expect(status, text).toBe(201)
  const ids: string[] = []
  for (let number = 0; number < 3; number++)
    ids.push(getExecutionId(await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })))
  await vi.waitUntil(() => receiver.received.length >= ids.length)
  const requests = receiver.received.map(({ headers, body }) => ({ headers, body, secret: json.secret }))
  const forged = { ...requests[0], body: requests[0]?.body.replace('SUCCESS', 'ERROR') }
  const { stdout, stderr } = spawnSync(found.python, [fileURLToPath(new URL('verify.py', NOTIFICATIONS))], {
    input: JSON.stringify({ code: CODE, requests: [...requests, forged] }),
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const results = stdout.trim().split('\n')
  expect(results.at(-1)).toBe('No matching signature found')
  expect(new Set(results.slice(0, -1))).toEqual(new Set(ids))
})
