import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sendModern } from '../mcp/messages.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { type Asked, answer, aRemote } from '../support/engine/remote-run.ts'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'

const own = await newOrganization()
const { secret } = (await own.call('POST', '/v1/webhooks/default/rotate')).json

/** A remote agent that answers with the text in upper case, and with 202 to one that begins with "later". */
async function publishRemote(slug: string) {
  const remote = await aRemote(async (response, { body }) => {
    const text = String(body.input.text)
    const output = { loud: text.toUpperCase() }
    const isLong = text.startsWith('later')
    answer(response, isLong ? {} : output, isLong ? 202 : 200)
    const callback = { method: 'POST', body: JSON.stringify({ output }) }
    const headers = { 'content-type': 'application/json' }
    if (isLong) await fetch(body.callbackUrl ?? '', { ...callback, headers })
  })
  const document = `---
title: Loud
slug: ${slug}
input: { text: { type: string, description: A text. } }
output: { loud: { type: string, description: The text in upper case. } }
remote: { url: "${remote.url}", timeoutSeconds: 30, readOnly: true, allowedHosts: ["${remote.host}"] }
---
`
  const { status, text } = await own.call('POST', '/v1/agents', { body: { document } })
  expect(status, text).toBe(201)
  return remote
}

const isSigned = ({ headers, text }: Asked): boolean => {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

describe('a remote agent', () => {
  it('runs synchronously, from the cache, and for MCP', async () => {
    const remote = await publishRemote('loud')
    const run = (text: string, query = '') => own.run('loud', { text }, query)
    expect((await run('a', 'useCache=true&tenantId=acme')).json).toEqual({ loud: 'A' })
    expect((await run('a', 'useCache=true&tenantId=acme')).headers.get('cache-status')).toContain('hit')
    expect(remote.asked).toHaveLength(1)
    expect(remote.asked[0]?.body.execution).toMatchObject({ agent: 'loud', tenantId: 'acme', attempt: 1 })
    expect(remote.asked.map(isSigned)).toEqual([true])
    const params = { name: 'loud', arguments: { text: 'b' } }
    const { result } = await sendModern(own.call, 'tools/call', params)
    expect(result.structuredContent).toEqual({ loud: 'B' })
  })

  it('answers later by its callback', async () => {
    await publishRemote('later')
    const accepted = await own.run('later', { text: 'later a' })
    expect(accepted.status).toBe(202)
    const record = await waitForExecution(own.call, accepted.json.id, 60_000)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { loud: 'LATER A' } })
  })

  it('is called by another agent, which waits for its callback', async () => {
    await publishRemote('inner')
    const document = `---
title: Outer
slug: outer
code: true
input: { text: { type: string, description: A text. } }
output: { loud: { type: string, description: The text in upper case. } }
---
`
    const code = `export default async (input, context) => context.run('call', 'inner', input)`
    const published = await own.call('POST', '/v1/agents', { body: { document, code } })
    expect(published.status, published.text).toBe(201)
    const id = getExecutionId(await own.run('outer', { text: 'later x' }))
    expect(await waitForExecution(own.call, id, 60_000)).toMatchObject({ output: { loud: 'LATER X' } })
  })
})
