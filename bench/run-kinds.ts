import { type Answer, call } from './client.ts'
import type { Service } from './service.ts'

const PATH = '/v1/agents/no-op/executions'
/** What the no-op agent is given: a short text, of a sentence or two. */
export const INPUT = { text: 'Nothing is done with this text. '.repeat(4) }
const OUTPUT = JSON.stringify(INPUT)

function check(isRight: boolean, what: string, { headers, body }: Answer): void {
  if (!isRight) throw new Error(`${what}: ${JSON.stringify(headers)} ${body}`)
}

export type RunKinds = ReturnType<typeof runKinds>

/** The ways to run the no-op agent once, each until its result is with the client, and each checked. */
export function runKinds(service: Service) {
  const syncCall = service.request('POST', PATH, { status: 200, body: INPUT })
  const cachedCall = service.request('POST', `${PATH}?useCache=true`, { status: 200, body: INPUT })
  const asyncCall = service.request('POST', `${PATH}?execMode=async`, { status: 202, body: INPUT })

  const read = (id: string, headers: Record<string, string>) =>
    call(service.request('GET', `/v1/agent_executions/${id}`, { status: 200, headers }))
  const isOver = (answer: Answer) => {
    const { status, output } = JSON.parse(answer.body) as { status: string; output: unknown }
    check(
      status === 'IN_PROGRESS' || JSON.stringify(output) === OUTPUT,
      'An asynchronous run gave something else',
      answer,
    )
    return status !== 'IN_PROGRESS'
  }
  const accept = async () => (JSON.parse((await call(asyncCall)).body) as { id: string }).id

  return {
    async sync(): Promise<void> {
      const answer = await call(syncCall)
      check(answer.body === OUTPUT, 'A run gave something else', answer)
    },

    /** Runs the agent when there is nothing to reuse. */
    async fillCache(): Promise<void> {
      await call(cachedCall)
    },

    async cached(): Promise<void> {
      const answer = await call(cachedCall)
      const isHit = answer.headers['x-cached-document-execution-id'] !== undefined
      check(isHit && answer.body === OUTPUT, 'A run was no hit', answer)
    },

    accept,

    /** Reads an accepted execution with `Prefer: wait` until it has ended. */
    async readWaiting(id: string): Promise<void> {
      while (!isOver(await read(id, { prefer: 'wait=25' }))) {}
    },

    /** Reads an accepted execution again and again until it has ended. */
    async readTightly(id: string): Promise<void> {
      while (!isOver(await read(id, {}))) {}
    },
  }
}

/** One run by a floor. */
export function floorRun(url: string): () => Promise<void> {
  const headers = { 'content-type': 'application/json' }
  return async () => {
    const answer = await call({ method: 'POST', url, headers, body: OUTPUT, status: 200 })
    check(answer.body === OUTPUT, 'A floor gave something else', answer)
  }
}
