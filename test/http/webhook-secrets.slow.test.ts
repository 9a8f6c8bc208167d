import { expect, it, vi } from 'vitest'
import { createLocalClient } from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { serve } from '../tools/serve.ts'

const services = temporaryServices()

it('shows secrets once, and never in a log, a list or an error', async () => {
  const dataDir = services.newFolder()
  const service = await services.start(dataDir, { POWERTOOLS_LOG_LEVEL: 'DEBUG' })
  const call = createLocalClient(service.url, dataDir)
  const server = await serve((response) => response.writeHead(500).end(SECRET_ANSWER))
  const body = { url: `${server.url}/hook?key=${SECRET_KEY}`, allowedHosts: [server.host] }
  const { id, secret } = (await call('POST', '/v1/webhooks', { body })).json
  const path = `/v1/webhooks/${id}`
  const rotated = (await call('POST', `${path}/rotate`)).json.secret
  const standard = (await call('POST', '/v1/webhooks/default/rotate')).json.secret
  expect((await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })).status).toBe(200)
  await vi.waitFor(() => expect(server.received).not.toEqual([]))
  const answers = await Promise.all([
    call('POST', `${path}/test`),
    call('GET', '/v1/webhooks'),
    call('GET', path),
    call('GET', `${path}/deliveries`),
    call('PATCH', path, { body: { secret } }),
    call('PATCH', path, { body: { enabled: true } }),
    call('POST', '/v1/webhooks', { body: { ...body, types: [secret] } }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 422, 200, 422])
  // The log of each request is complete.
  await vi.waitFor(() => expect(service.output()).toContain('"operation":"test-webhook"'))
  const texts = [...answers.map(({ text }) => text), service.output()]
  for (const value of [secret, rotated, standard, SECRET_ANSWER])
    for (const text of texts) expect(text).not.toContain(value.replace('whsec_', ''))
  expect(service.output()).not.toContain(SECRET_KEY)
  expect((await call('DELETE', path)).status).toBe(204)
})

const SECRET_ANSWER = 'what-the-receiver-answered'
const SECRET_KEY = 'key-in-the-query-of-the-url'
