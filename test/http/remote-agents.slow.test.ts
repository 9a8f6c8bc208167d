import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type Asked, answer, aRemote } from '../support/engine/remote-run.ts'
import { waitUntil } from '../support/processes/processes.ts'

let own: TestOrganization
let secret: string
beforeAll(async () => {
  own = await newOrganization()
  secret = (await own.call('POST', '/v1/webhooks/default/rotate')).json.secret
})

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
  const { status, text, json } = await own.call('POST', '/v1/agents', { body: { document } })
  expect(status, text).toBe(201)
  return { ...remote, versionId: json.id as string }
}

const isSigned = ({ headers, text }: Asked): boolean => {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

async function untilEnded(path: string, count = 1): Promise<object[]> {
  let found: { status: string }[] = []
  const hasEnded = async () => {
    const { status, text, json } = await own.call('GET', path)
    expect(status, text).toBe(200)
    found = Array.isArray(json) ? json : [json]
    return found.length === count && found.every(({ status }) => status !== 'IN_PROGRESS')
  }
  await waitUntil(hasEnded, { what: path, limitMs: 60_000 })
  return found
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
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'loud', arguments: { text: 'b' } },
    }
    const accept = { Accept: 'application/json, text/event-stream' }
    const { text } = await own.call('POST', '/v1/mcp', { body: call, headers: accept })
    expect(text).toContain('"loud":"B"')
  })

  it('answers later by its callback', async () => {
    await publishRemote('later')
    const accepted = await own.run('later', { text: 'later a' })
    expect(accepted.status).toBe(202)
    const path = `/v1/agent_executions/${accepted.json.id}`
    expect(await untilEnded(path)).toMatchObject([{ status: 'SUCCESS', output: { loud: 'LATER A' } }])
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
    const { json } = await own.run('outer', { text: 'later x' })
    const path = `/v1/agent_executions/${json.id}`
    expect(json.loud ? [{ output: json }] : await untilEnded(path)).toMatchObject([
      { output: { loud: 'LATER X' } },
    ])
  })
})
