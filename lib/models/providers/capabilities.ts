import type { ModelName } from '../model-name.ts'

const matches = ({ provider, model }: ModelName, models: Partial<Record<ModelName['provider'], RegExp>>) =>
  models[provider]?.test(model) ?? false

/** Claude since version 3, Nova except Micro, and OpenAI's models since GPT-4o read images in tool results. */
export const acceptsImages = (name: ModelName): boolean =>
  matches(name, {
    anthropic: /claude-(?!instant|v?[12](?!\d))/,
    bedrock: /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)/,
    openai: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
  })

/**
 * Whether cache points may be sent: Bedrock rejects them for other models.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export const acceptsCachePoints = (name: ModelName): boolean =>
  matches(name, {
    anthropic: /./,
    bedrock: /claude-(3-7|3-5-(haiku|sonnet-20241022)|[a-z]+-\d)|amazon\.nova-(?!sonic)/,
  })

/** Models whose provider implements `strict` for tools. The Anthropic package of the AI SDK has its own list. */
export const acceptsStrictTools = (name: ModelName): boolean =>
  matches(name, {
    anthropic: /./,
    bedrock: /claude-(sonnet|opus)-4-[56](?!\d)/,
    openai: /./,
  })

/**
 * DeepSeek and Kimi reject a history with tool calls unless their reasoning is sent back as `reasoning_content`. Other
 * OpenAI-compatible servers ignore this member, or reject it like Groq and Mistral.
 */
export const wantsReasoning = (name: ModelName): boolean =>
  name.provider !== 'openai-compatible' || /deepseek|kimi/i.test(name.model)
