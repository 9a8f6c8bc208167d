import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ModelSettings } from '../core/agent.ts'
import {
  type AnswerMode,
  FINAL_ANSWER,
  type InputFile,
  isTextMode,
  type Model,
  ModelConfigurationError,
  ModelError,
  type ModelRequest,
  type ModelResponse,
} from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { checkModel, findMediaProblem } from './check-model.ts'
import { connect } from './endpoints/connection.ts'
import { estimateInputTokens, estimateTokens } from './estimate-tokens.ts'
import { formatModelName, type ModelName, parseModelName, prefixOf } from './model-name.ts'
import { limitOutput, outputLimitOf, readOutputLimit } from './output-limit.ts'
import { acceptsTemperature, getAnswerModes, toReasoningOptions } from './providers/model-traits.ts'
import { traitsOf } from './providers/providers.ts'
import { toFunctionTool, toPrompt, toToolMessage, toUserMessage } from './requests/to-prompt.ts'
import { toSearchTool } from './requests/web-search.ts'
import { type WireRequest, wireRules } from './requests/wire-model.ts'
import {
  collectStream,
  startTokenTimeout,
  TOKEN_TIMEOUTS,
  type TokenTimeouts,
} from './responses/collect-stream.ts'
import { convertParts } from './responses/convert-parts.ts'
import { ResponseSize } from './responses/response-size.ts'
import { streamingFetch } from './responses/streaming-fetch.ts'
import {
  findResponseError,
  isLost,
  rejectsResponseFormat,
  rejectsStrictSchema,
  toModelError,
} from './responses/to-model-error.ts'
import { toResponse } from './responses/to-response.ts'

type Options = { settings?: ModelSettings | undefined; timeouts?: TokenTimeouts }

/**
 * Opens a model through the provider's package of the AI SDK. Each `respond` sends one request, without retries, except
 * that a server that rejects `response_format` gets the request again with a tool instead. Responses are streamed, so
 * that a long one does not look like a lost connection, and returned when they are complete. The SDK's `streamText` is
 * not used because it validates and converts the complete history for each request.
 * @throws ModelConfigurationError; ModelError if the API key cannot be read
 */
export async function openModel(
  text: string,
  baseEnvironment: Environment,
  { settings = {}, timeouts = TOKEN_TIMEOUTS }: Options = {},
): Promise<Model> {
  const size = new ResponseSize()
  const send = streamingFetch((bytes) => size.arrive(bytes))
  const connection = await connect(checkModel(text, baseEnvironment), baseEnvironment, send)
  const { environment, secrets, fetch } = connection
  const name = checkModel(text, environment)
  const provider = prefixOf(name)
  const traits = traitsOf(name.provider)
  const variable = (variableName: string) => environment[variableName] ?? ''
  const baseURL = variable(traits.variables.baseUrl)
  const model = await traits.open(name.model, { baseURL, variable, fetch })
  const toWireRequest = wireRules(name)
  const { options: reasoning, maxOutputTokens, ...fixed } = { ...toReasoningOptions(name), ...settings }
  const described = describeModel(name, settings)
  if (described.ignoredSettings.includes('temperature')) delete fixed.temperature
  const options = { ...reasoning, ...traits.options }
  const limit = maxOutputTokens ?? readOutputLimit(name, environment)
  const { answerModes } = described
  /** What the server does not accept: the request is sent again without it. */
  const rejected = new Set<'format' | 'strict'>()

  async function respond(request: ModelRequest): Promise<ModelResponse> {
    const { signal, tools } = request
    const isText = isTextMode(request.answerMode) && !rejected.has('format')
    const timeout = startTokenTimeout(provider, timeouts, signal)
    const received = { text: '' }
    const estimate = () => ({
      inputTokens: estimateInputTokens(request),
      outputTokens: estimateTokens(received.text),
    })
    let hasBegun = false
    size.begin()
    let wire: WireRequest | undefined
    try {
      const search = isText ? null : toSearchTool(tools, name)
      const output = { maxOutputTokens: outputLimitOf(request, name, limit), options }
      const limited = limitOutput(name, output, request.maxOutputTokens)
      wire = toWireRequest(
        {
          ...fixed,
          ...(limited.maxOutputTokens !== undefined && { maxOutputTokens: limited.maxOutputTokens }),
          ...(isText ? toResponseFormat(request) : toTools(request, answerModes, search)),
          providerOptions: { [traits.optionsKey]: { ...limited.options, ...search?.options } },
          prompt: toPrompt(request),
          abortSignal: timeout.signal,
        },
        !rejected.has('strict'),
      )
      const { stream } = await model.doStream(wire.options)
      hasBegun = true
      const { onPart } = request
      const show = onPart && convertParts(wire.decoderOf, onPart)
      const result = await collectStream(size.limit(stream), timeout, traits.stream, received, show)
      return toResponse({ ...result, content: wire.decode(result.content) }, { provider, tools, estimate })
    } catch (thrown) {
      const error = findResponseError(thrown)
      if (isText && rejectsResponseFormat(error)) rejected.add('format')
      if (wire?.isStrict && rejectsStrictSchema(error)) rejected.add('strict')
      const reason = size.error ?? (timeout.signal.aborted ? timeout.signal.reason : null)
      const failure = reason ?? toModelError(error, { provider, secrets, request, hasBegun, now: Date.now() })
      if (isLost(error, { hasBegun, received: received.text }) && failure instanceof ModelError)
        failure.usage ??= { ...estimate(), estimated: true }
      throw failure
    } finally {
      timeout.stop()
    }
  }

  return {
    ...described,
    async respond(request) {
      for (;;) {
        const { size } = rejected
        try {
          return await respond(request)
        } catch (error) {
          if (rejected.size === size) throw error
        }
      }
    },
  }
}

/** What is known of a model without its API key. */
function describeModel(name: ModelName, { temperature }: ModelSettings) {
  const ignoresTemperature = temperature !== undefined && !acceptsTemperature(name)
  return {
    name: formatModelName(name),
    answerModes: getAnswerModes(name),
    ignoredSettings: ignoresTemperature ? ['temperature' as const] : [],
    contextWindow: name.endpoint?.traits.contextWindow,
    userMessage(content: string, files: readonly InputFile[] = []) {
      const mediaTypes = files.map(({ mediaType }) => mediaType)
      const problem = findMediaProblem(name, mediaTypes)
      if (problem) throw new ModelConfigurationError(problem)
      return toUserMessage(content, files)
    },
    toolMessage: toToolMessage,
  } satisfies Partial<Model>
}

/**
 * A model that is opened for its first response: before, it needs no API key.
 * @param open as `openModel`, which it has the other parameters of
 * @throws ModelConfigurationError if the name is invalid
 */
export function openLater(
  open: (...params: Parameters<typeof openModel>) => Promise<Model>,
  ...params: Parameters<typeof openModel>
): Model {
  const [text, environment, { settings = {} } = {}] = params
  let opened: Promise<Model> | undefined
  return {
    ...describeModel(parseModelName(text, environment), settings),
    async respond(request) {
      opened ??= open(...params)
      const model = await opened.catch((error: unknown) => {
        opened = undefined
        throw error
      })
      return model.respond(request)
    },
  }
}

function toTools(
  { tools, answerMode }: ModelRequest,
  answerModes: AnswerMode[],
  search: ReturnType<typeof toSearchTool>,
): Partial<LanguageModelV4CallOptions> {
  if (tools.length === 0) return {}
  const isAlone = answerMode === 'structured' && answerModes.includes('forced-tool')
  const isForced = answerMode === 'forced-tool' || isAlone
  const toolChoice = isForced ? { type: 'tool' as const, toolName: FINAL_ANSWER } : { type: 'auto' as const }
  const functions = tools.filter(({ webSearch }) => !webSearch).map(toFunctionTool)
  return { tools: search ? [...functions, search.tool] : functions, toolChoice }
}

function toResponseFormat({ tools }: ModelRequest): Partial<LanguageModelV4CallOptions> {
  const schema = tools.find(({ name }) => name === FINAL_ANSWER)?.inputSchema
  return { responseFormat: { type: 'json', name: 'result', ...(schema && { schema }) } }
}
