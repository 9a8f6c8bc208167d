import { describe, expect, it } from 'vitest'
import { AgentError, type Client, type ExecutionEvent } from '../../../clients/typescript/src/index.ts'
import { type Answer, collect, drop, events, json, problem, scriptedService } from './scripted-service.ts'

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const HEADERS = { 'X-Execution-Id': ID }
const RETRY = 'retry: 1\n\n'

const block = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const status = (name: string) => block('status', { id: ID, status: name })
const step = (number: number) => `id: ${number}\n${block('step', { number, text: 'é' })}`
const tool = (number: number, id: string) => block('tool', { step: number, id, name: 'look_up' })
const done = block('done', { id: ID, status: 'SUCCESS', output: { text: 'x' } })

const nameOf = ({ event, data }: ExecutionEvent): string => {
  if (event === 'step') return `step ${data.number}`
  if (event === 'tool') return `tool ${data.step}${data.id}`
  return event === 'status' ? data.status : event
}

async function readAll(stream: AsyncIterable<ExecutionEvent>): Promise<string[]> {
  const names: string[] = []
  for await (const event of stream) names.push(nameOf(event))
  return names
}

const stream = (client: Client) => client.stream('echo', { text: 'x' })

describe('stream', () => {
  it('runs an agent and yields its events', async () => {
    const parts = [': x\n\n', status('IN_PROGRESS'), step(1), tool(1, 'a'), status('SUCCESS'), done]
    const { client, requests } = await scriptedService([events(parts)])
    const all = await readAll(stream(client))
    expect(all).toEqual(['IN_PROGRESS', 'step 1', 'tool 1a', 'SUCCESS', 'done'])
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/agents/echo/executions?execMode=sync',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    })
  })

  it.each([
    ['text', 'Bad Gateway'],
    ['half of an object', '{"number": 2, "te'],
  ])('rejects with an error of its own when the data of an event is %s', async (_, data) => {
    const broken = `id: 2\nevent: step\ndata: ${data}\n\n`
    const { client, requests } = await scriptedService([
      events([status('IN_PROGRESS'), step(1), broken], 'stay', HEADERS),
    ])
    const seen: string[] = []
    const error = await (async () => {
      for await (const event of stream(client)) seen.push(nameOf(event))
    })().catch((thrown: unknown) => thrown)
    expect(seen).toEqual(['IN_PROGRESS', 'step 1'])
    expect(error).toBeInstanceOf(AgentError)
    expect(error).toMatchObject({ code: 'UnexpectedResponse', status: 200, executionId: ID })
    expect((error as AgentError).detail).toBe(
      `The data of the event "step 2" is not a JSON object. It begins with: ${data}`,
    )
    expect(requests).toHaveLength(1)
  })

  it('ignores events that it does not know, whatever their data', async () => {
    const parts = ['event: ping\ndata: now\n\n', 'data: hello\n\n', status('SUCCESS'), done]
    const { client } = await scriptedService([events(parts)])
    expect(await readAll(stream(client))).toEqual(['SUCCESS', 'done'])
  })

  it.each(['break', 'end'] as const)(
    'continues after the last step when the stream should %s, with each event once',
    async (then) => {
      const first = [status('IN_PROGRESS'), step(1), tool(1, 'a'), `id: 2\nevent: step\ndata: {"num`]
      const second = [status('IN_PROGRESS'), tool(1, 'a'), tool(1, 'b'), step(2), step(3), RETRY]
      const third = [status('SUCCESS'), step(3), tool(3, 'a'), done]
      const answers = [events(first, then, HEADERS), drop, events(second, then), events(third)]
      const { client, requests } = await scriptedService(answers)
      expect(await readAll(stream(client))).toEqual([
        'IN_PROGRESS',
        ...['step 1', 'tool 1a', 'tool 1b', 'step 2', 'step 3'],
        ...['SUCCESS', 'tool 3a', 'done'],
      ])
      expect(requests.map(({ method, path, headers }) => [method, path, headers['last-event-id']])).toEqual([
        ['POST', '/v1/agents/echo/executions?execMode=sync', undefined],
        ['GET', `/v1/agent_executions/${ID}/events`, '1'],
        ['GET', `/v1/agent_executions/${ID}/events`, '1'],
        ['GET', `/v1/agent_executions/${ID}/events`, '3'],
      ])
    },
  )

  it('learns the execution from the first event if a proxy has removed the header', async () => {
    const answers = [events([status('IN_PROGRESS')], 'break'), events([status('SUCCESS'), done])]
    const { client, requests } = await scriptedService(answers)
    await readAll(stream(client))
    expect(requests[1]).toMatchObject({ method: 'GET', path: `/v1/agent_executions/${ID}/events` })
  })

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

  it('rejects with the error of the service', async () => {
    const { client } = await scriptedService([problem(404, 'AgentNotFound')])
    await expect(readAll(stream(client))).rejects.toBeInstanceOf(AgentError)
    const deleted = await scriptedService([
      events([status('IN_PROGRESS')], 'break', HEADERS),
      problem(404, 'ExecutionNotFound'),
    ])
    await expect(readAll(stream(deleted.client))).rejects.toMatchObject({ code: 'ExecutionNotFound' })
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

describe('events', () => {
  it('yields the events after a step', async () => {
    const { client, requests } = await scriptedService([
      events([status('SUCCESS'), tool(4, 'a'), step(5), done]),
    ])
    expect(await readAll(client.events(ID, { after: 4 }))).toEqual(['SUCCESS', 'tool 4a', 'step 5', 'done'])
    expect(requests[0]?.headers['last-event-id']).toBe('4')
  })
})
