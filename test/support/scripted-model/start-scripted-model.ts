import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../../lib/environment.ts'
import type { Reasoning } from '../../../lib/models/providers/provider-traits.ts'
import { type Provider, traitsOf } from '../../../lib/models/providers/providers.ts'
import { startServer } from '../service/start-server.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { bedrockConverse } from './bedrock-converse.ts'
import { chatCompletions } from './chat-completions.ts'
import type { Chunk, Format } from './format.ts'
import { openaiResponses } from './openai-responses.ts'
import { keepRequest, problemOf, type RecordedRequest, type ScriptedProvider } from './recorded-request.ts'
import { asText, completeResponse, isFault, type Reply, type Script, type ScriptedResponse } from './turn.ts'

export const FORMATS: Record<ScriptedProvider, Format> = {
  openai: openaiResponses,
  'openai-compatible': chatCompletions,
  anthropic: anthropicMessages,
  bedrock: bedrockConverse,
}

/** What holds for every format is tested with each of them. */
export const SCRIPTED_PROVIDERS = Object.keys(FORMATS) as ScriptedProvider[]

/** The status of a request that the script does not allow. It is not retried. */
const UNEXPECTED_REQUEST = 418

const FAULT = 'Scripted fault.'

/** The API key of `environmentFor`. No message may contain it. */
export const KEY = 'sk-scripted-4f9a1c77'

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>

type State = { script: Script; requests: RecordedRequest[]; unfinished: number }

/**
 * Starts a model server that implements the formats of four providers. The model's id selects the script, so that
 * concurrent tests can share a server. `assertDone` reports requests that a script does not allow.
 */
export async function startScriptedModel() {
  const states = new Map<string, State>()
  const errors: { model: string; error: string }[] = []
  let responses = 0

  const { url, stop } = await startServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      errors.push({ model: '', error: String(error) })
      response.destroy()
    })
  })

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const path = decodeURIComponent(request.url ?? '')
    const name = SCRIPTED_PROVIDERS.find((candidate) => FORMATS[candidate].path.test(path))
    const format = name && FORMATS[name]
    if (!name || !format) return reject(response, null, '', `no format for ${request.method} ${path}`)
    const body = JSON.parse(await text(request))
    const model = format.path.exec(path)?.[1] ?? body.model
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([key, value]) => [key, `${value}`]),
    )
    const recorded: RecordedRequest = { ...format.decode(body), format: name, model, headers, body }
    keepRequest(recorded)
    const state = states.get(model)
    if (!state) return reject(response, format, model, 'there is no script with this name')
    const index = state.requests.push(recorded) - 1
    response.once('close', () => {
      if (!response.writableFinished) state.unfinished++
    })
    const problem = problemOf(recorded)
    if (problem) return reject(response, format, model, problem)
    const turn = typeof state.script === 'function' ? state.script(recorded, index) : state.script[index]
    if (!turn) return reject(response, format, model, `the script has no turn ${index + 1}`)
    await reply(response, format, recorded, typeof turn === 'function' ? turn(recorded) : turn)
  }

  async function reply(response: ServerResponse, format: Format, request: RecordedRequest, turn: Reply) {
    if (turn.delayMs) await sleep(turn.delayMs, undefined, { ref: false })
    await turn.until
    const toChunks = (scripted: ScriptedResponse) => {
      const possible = request.tools.length > 0 ? scripted : asText(scripted)
      return format.encode(completeResponse(possible, `${++responses}`, request.model), request.body)
    }
    if (!isFault(turn)) return sendChunks(response, format, toChunks(turn), { pause: turn.pause })
    if ('garbage' in turn) {
      return send(response, 200, { 'content-type': turn.contentType ?? 'application/json' }, turn.garbage)
    }
    if ('status' in turn) {
      const { status, message = FAULT, code = 'scripted_fault' } = turn
      const error = format.error(status, message, code)
      return send(response, status, { ...error.headers, ...turn.headers }, turn.body ?? error.body)
    }
    if ('drop' in turn) return response.destroy()
    const all = toChunks(turn.cut)
    const count = turn.chunks ?? Math.floor(all.length / 2)
    const [whole, next] = [Math.floor(count), all[Math.floor(count)] ?? '']
    const chunks = [...all.slice(0, whole), next.slice(0, next.length * (count - whole))]
    if (typeof turn.by !== 'object') return sendChunks(response, format, chunks, { by: turn.by })
    const error = format.streamError(turn.by.message ?? FAULT, turn.by.code)
    await sendChunks(response, format, [...chunks, error])
  }

  function reject(response: ServerResponse, format: Format | null, model: string, error: string) {
    errors.push({ model, error })
    const message = `The scripted model "${model}" rejected the request: ${error}.`
    const body = format?.error(UNEXPECTED_REQUEST, message, 'unexpected_request').body ?? message
    send(response, UNEXPECTED_REQUEST, {}, body)
  }

  return {
    url,

    /** The environment variables of one provider, or of all those with a format of their own. */
    environmentFor(provider?: Provider): Environment {
      if (!provider) return Object.assign({}, ...SCRIPTED_PROVIDERS.map((each) => this.environmentFor(each)))
      const { baseUrl, required, secrets } = traitsOf(provider).variables
      if (provider !== 'bedrock') {
        const keys = [...required, ...secrets].map((name) => [name, KEY])
        return { ...Object.fromEntries(keys), [baseUrl]: `${url}/${provider}/v1` }
      }
      return {
        [baseUrl]: `${url}/bedrock`,
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'AKIASCRIPTED',
        AWS_SECRET_ACCESS_KEY: KEY,
      }
    },

    /** The name of a script's model, for an agent's document or `model=`. */
    modelFor(format: Provider, script: string, reasoning?: Reasoning): string {
      return reasoning ? `${format}/${script}:${reasoning}` : `${format}/${script}`
    },

    /** Sets the script of a model, and starts it at its first turn. */
    script(name: string, script: Script): void {
      states.set(name, { script, requests: [], unfinished: 0 })
    },

    /** The requests to a model, oldest first, including rejected ones. */
    requests(name: string): RecordedRequest[] {
      return states.get(name)?.requests ?? []
    },

    /** How many connections to a model were closed before its response had ended. */
    unfinished: (name: string): number => states.get(name)?.unfinished ?? 0,

    /** @throws if a script, or the named one, has unused turns or rejected a request */
    assertDone(name?: string): void {
      const problems = errors
        .filter(({ model }) => !name || model === name)
        .map(({ model, error }) => `${model}: ${error}`)
      for (const [model, { script, requests }] of states) {
        const left =
          (name && model !== name) || typeof script === 'function' ? 0 : script.length - requests.length
        if (left > 0) problems.push(`${model}: ${left} of ${script.length} turns were not used`)
      }
      if (problems.length > 0) throw new Error(`Scripted model:\n${problems.join('\n')}`)
    },

    stop,
  }
}

/** Writes each chunk separately, then ends the response or closes the connection. */
async function sendChunks(
  response: ServerResponse,
  { contentType }: Format,
  chunks: Chunk[],
  { pause, by = 'end' }: { pause?: ScriptedResponse['pause']; by?: 'end' | 'close' } = {},
) {
  response.writeHead(200, { 'content-type': contentType }).flushHeaders()
  for (const [index, chunk] of chunks.entries()) {
    const isPause = pause && index > 0 && (pause.chunk === undefined || chunks.at(pause.chunk) === chunk)
    if (isPause) await sleep(pause.ms, undefined, { ref: false })
    if (response.destroyed) return
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()))
  }
  if (by === 'end') response.end()
  else response.destroy()
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: unknown) {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
