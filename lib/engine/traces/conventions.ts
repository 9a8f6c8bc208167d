import { maskMacs } from '../../core/callback-mac.ts'
import { type ExecutionSummary, roundDollars, type Usage } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import type { ToolCall, ToolResult } from '../../core/model.ts'
import type { ModelStep } from '../../core/step.ts'
import { REASONING_LEVELS } from '../../models/providers/provider-traits.ts'

/** The release of https://github.com/open-telemetry/semantic-conventions-genai that this file follows. */
export const CONVENTIONS_VERSION = '0.1.0'

export type Attributes = Record<string, string | number | boolean | string[]>

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/#gen-ai-provider-name */
const PROVIDER_NAMES: Record<string, string> = { bedrock: 'aws.bedrock' }

const REASONING = new RegExp(`:(${REASONING_LEVELS.join('|')})$`)

/** Characters of an attribute with content. Longer ones are cut. */
const MAX_CONTENT = 16_000

/** What is a payload, as text. Callback URLs have no MAC there, as in the API. */
function toContent(value: unknown): string {
  const text = JSON.stringify(maskMacs(value as Json))
  return text.length > MAX_CONTENT ? `${text.slice(0, MAX_CONTENT - 1)}…` : text
}

/** A member that is undefined is no attribute. */
const defined = (attributes: Record<string, Attributes[string] | undefined>): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Attributes

/** `bedrock/amazon.nova-lite-v1:0:low` is the model `amazon.nova-lite-v1:0` of the provider `aws.bedrock`. */
export function parseRecordedModel(name: string): { provider: string; model: string } {
  const [prefix = '', ...rest] = name.split('/')
  return { provider: PROVIDER_NAMES[prefix] ?? prefix, model: rest.join('/').replace(REASONING, '') }
}

const costOf = ({ costUsd }: Usage) => (costUsd === undefined ? undefined : roundDollars(costUsd))

/**
 * Of the span of a run. Tokens are those of its responses: receivers that add up a trace would count them twice.
 * `payloads`: absent without the setting `otlpContent`.
 */
export const runAttributes = (
  run: ExecutionSummary,
  slug: string,
  payloads?: { input?: JsonObject; output?: JsonObject | null },
): Attributes =>
  defined({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': slug,
    'gen_ai.agent.version': run.versionId,
    'gen_ai.request.model': run.model === null ? undefined : parseRecordedModel(run.model).model,
    'agent_execution.id': run.id,
    'agent_execution.organization_id': run.organizationId,
    'agent_execution.tenant_id': run.tenantId ?? undefined,
    'agent_execution.source': run.source,
    'agent_execution.cost_usd': costOf(run.usage),
    'error.type': run.error?.code,
    ...(payloads?.input && {
      'gen_ai.input.messages': toContent([{ role: 'user', parts: [textPart(payloads.input)] }]),
    }),
    ...(payloads?.output && {
      'gen_ai.output.messages': toContent([
        { role: 'assistant', parts: [textPart(payloads.output)], finish_reason: 'stop' },
      ]),
    }),
  })

/** Of a model response. */
export function chatAttributes(step: ModelStep, name: string, hasContent: boolean): Attributes {
  const { provider, model } = parseRecordedModel(name)
  const { usage } = step
  return defined({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.response.finish_reasons': [step.stopReason],
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'agent_execution.step': step.number,
    'agent_execution.cost_usd': costOf(usage),
    'agent_execution.replayed': step.replayed ? true : undefined,
    ...(hasContent && { 'gen_ai.output.messages': toContent([toMessage(step)]) }),
  })
}

/** Of a call of a tool. */
export const toolAttributes = (
  { id, name, input }: ToolCall,
  result: ToolResult,
  step: number,
  hasContent: boolean,
): Attributes =>
  defined({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': 'function',
    'agent_execution.step': step,
    'agent_execution.replayed': result.replayed ? true : undefined,
    'error.type': result.ok ? undefined : 'ToolError',
    ...(hasContent && {
      'gen_ai.tool.call.arguments': toContent(input),
      'gen_ai.tool.call.result': toContent(result.ok ? result.value : { error: result.error }),
    }),
  })

/** Of a step or a wait of a code agent, and of an approval: the conventions have none. */
export const stepAttributes = (step: number, errorType: string | undefined): Attributes =>
  defined({ 'agent_execution.step': step, 'error.type': errorType })

const textPart = (value: JsonObject) => ({ type: 'text', content: JSON.stringify(value) })

/** The form of https://github.com/open-telemetry/semantic-conventions-genai/blob/main/model/gen-ai/gen-ai-output-messages.json. */
const toMessage = ({ text, calls, stopReason }: ModelStep) => ({
  role: 'assistant',
  parts: [
    ...(text ? [{ type: 'text', content: text }] : []),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, arguments: input })),
  ],
  finish_reason: stopReason,
})
