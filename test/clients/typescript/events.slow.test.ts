import { describe, expect, it } from 'vitest'
import type { Client } from '../../../clients/typescript/src/index.ts'
import { collect } from '../../support/data/collect.ts'
import { type Answer, events, json, scriptedService } from './scripted-service.ts'

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const HEADERS = { 'X-Execution-Id': ID }

const block = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const status = (name: string) => block('status', { id: ID, status: name })
const step = (number: number) => `id: ${number}\n${block('step', { number, text: 'é' })}`
const done = block('done', { id: ID, status: 'SUCCESS', output: { text: 'x' } })

const stream = (client: Client) => client.stream('echo', { text: 'x' })

describe('stream', () => {
  it('decodes characters that arrive in parts', async () => {
    const bytes = Buffer.from(step(1))
    const middle = bytes.indexOf(Buffer.from('é')) + 1
    const answer: Answer = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(bytes.subarray(0, middle), () =>
        setTimeout(() => response.end(Buffer.concat([bytes.subarray(middle), Buffer.from(done)])), 20),
      )
    }
    const { client } = await scriptedService([answer])
    const all = await collect(stream(client))
    expect(all[0]?.data).toEqual({ number: 1, text: 'é' })
  })

  it('closes the connection when the reader leaves the loop', async () => {
    const { client, requests } = await scriptedService([events([status('IN_PROGRESS')], 'stay')])
    for await (const _ of stream(client)) break
    await requests[0]?.closed
  })

  it('ends with its signal, and cancels the execution if it should', async () => {
    const cancelled = json(200, { id: ID, status: 'ERROR' })
    const answers = [events([status('IN_PROGRESS')], 'stay', HEADERS), cancelled]
    const { client, requests } = await scriptedService(answers)
    const controller = new AbortController()
    const options = { signal: controller.signal, cancelOnAbort: true }
    const read = async () => {
      for await (const _ of client.stream('echo', { text: 'x' }, options)) controller.abort('enough')
    }
    await expect(read()).rejects.toBe('enough')
    expect(requests[1]).toMatchObject({ method: 'POST', path: `/v1/agent_executions/${ID}/cancel` })
    await requests[0]?.closed
  })
})
