import { maskMacs } from '../../core/callback-mac.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import type { Json } from '../../core/json/json.ts'
import type { ToolCall, ToolResult } from '../../core/model.ts'
import { roundDollars, type Usage } from '../../core/model-usage.ts'
import type { ModelStep } from '../../core/step.ts'
import { REASONING_LEVELS } from '../../models/providers/provider-traits.ts'

/** The release of https://github.com/open-telemetry/semantic-conventions-genai that this file follows. */
export const CONVENTIONS_VERSION = '0.1.0'

/** An undefined one is left out. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/#gen-ai-provider-name */
const PROVIDER_NAMES: Record<string, string> = { bedrock: 'aws.bedrock' }

const REASONING = new RegExp(`:(${REASONING_LEVELS.join('|')})$`)

/** `bedrock/amazon.nova-lite-v1:0:low` is the model `amazon.nova-lite-v1:0` of the provider `aws.bedrock`. */
export function parseRecordedModel(name: string): { provider: string; model: string } {
  const [prefix = '', ...rest] = name.split('/')
  return { provider: PROVIDER_NAMES[prefix] ?? prefix, model: rest.join('/').replace(REASONING, '') }
}

const costOf = ({ costUsd }: Usage) => (costUsd === undefined ? undefined : roundDollars(costUsd))

/**
 * The attributes of a run. Tokens are attributes of its responses alone: receivers that add up a trace would count them
 * twice.
 */
export const runAttributes = (run: ExecutionSummary, slug: string): Attributes => ({
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
})

/** The attributes of a model response. `model`: as recorded. */
export function chatAttributes({ usage, ...step }: ModelStep, name: string): Attributes {
  const { provider, model } = parseRecordedModel(name)
  return {
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
    'agent_execution.replayed': step.replayed && true,
  }
}

/** The attributes of a tool call. */
export const toolAttributes = ({ id, name }: ToolCall, result: ToolResult, step: number): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.id': id,
  'gen_ai.tool.type': 'function',
  'agent_execution.step': step,
  'agent_execution.replayed': result.replayed && true,
  'error.type': result.ok ? undefined : 'ToolError',
})

/** The attributes of a step or a wait of a code agent, and of an approval, for which there are no conventions. */
export const stepAttributes = (step: number, errorType?: string): Attributes => ({
  'agent_execution.step': step,
  'error.type': errorType,
})

/** Payloads of a run. An execution that is too large has none. */
export const runContent = (run: Execution | ExecutionSummary): Attributes => ({
  'gen_ai.input.messages':
    'input' in run ? toContent([{ role: 'user', parts: [textPart(run.input)] }]) : undefined,
  'gen_ai.output.messages':
    'output' in run && run.output !== null ? messageContent([textPart(run.output)], 'stop') : undefined,
})

export const chatContent = ({ text, calls, stopReason }: ModelStep): Attributes => ({
  'gen_ai.output.messages': messageContent(
    [
      ...(text ? [{ type: 'text', content: text }] : []),
      ...calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, arguments: input })),
    ],
    stopReason,
  ),
})

export const toolContent = ({ input }: ToolCall, result: ToolResult): Attributes => ({
  'gen_ai.tool.call.arguments': toContent(input),
  'gen_ai.tool.call.result': toContent(result.ok ? result.value : { error: result.error }),
})

/** https://github.com/open-telemetry/semantic-conventions-genai/blob/v0.1.0/model/gen-ai/gen-ai-output-messages.json */
const messageContent = (parts: object[], finishReason: string) =>
  toContent([{ role: 'assistant', parts, finish_reason: finishReason }])

const textPart = (value: object) => ({ type: 'text', content: JSON.stringify(value) })

/** Characters of an attribute with content. Longer ones are cut. */
const MAX_CONTENT = 16_000

/** Callback URLs have no MAC there, as in the API. */
function toContent(value: unknown): string {
  const text = JSON.stringify(maskMacs(value as Json))
  return text.length > MAX_CONTENT ? `${text.slice(0, MAX_CONTENT - 1)}…` : text
}
