import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { ADD, openScripted, requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()

const SIZE = {
  ...ADD,
  name: 'size',
  inputSchema: { type: 'object', properties: { größe: { type: 'number' } }, required: ['größe'] },
}
const input = { gro_e: 5 }

/** What each API returns to a request without `stream`. */
const WHOLE: Record<ScriptedProvider, JsonObject> = {
  openai: {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'm',
    status: 'completed',
    incomplete_details: null,
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'I ask.', annotations: [] }],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'size',
        arguments: JSON.stringify(input),
        status: 'completed',
      },
    ],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  },
  'openai-compatible': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          reasoning_content: 'Let me see.',
          content: 'I ask.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'size', arguments: JSON.stringify(input) } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'signed' },
      { type: 'text', text: 'I ask.' },
      { type: 'tool_use', id: 'call_1', name: 'size', input },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  },
  bedrock: {
    output: {
      message: {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Let me see.', signature: 'signed' } } },
          { text: 'I ask.' },
          { toolUse: { toolUseId: 'call_1', name: 'size', input } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    metrics: { latencyMs: 1 },
  },
}

const FORMATS = Object.keys(WHOLE) as ScriptedProvider[]

describe.each(FORMATS)('a server in the format of %s that does not stream', (format) => {
  it('has its JSON response read, without another request', async () => {
    const garbage = JSON.stringify(WHOLE[format])
    const { model, requests } = await openScripted(scripted.server, format, [{ garbage }])
    const response = await model.respond(requestOf(model, { tools: [SIZE] }))
    expect(response).toMatchObject({
      text: 'I ask.',
      toolCalls: [{ id: 'call_1', name: 'size', input: { größe: 5 }, error: null }],
      usage: { inputTokens: 10, outputTokens: 5 },
      stopReason: 'tool-calls',
    })
    expect(JSON.stringify(response.messages)).toContain('Let me see.')
    expect(requests()).toHaveLength(1)
  })

  it('has no response of which a part is missing', async () => {
    const garbage = JSON.stringify(WHOLE[format]).slice(0, -40)
    const { model } = await openScripted(scripted.server, format, [{ garbage }])
    await expect(model.respond(requestOf(model, { tools: [SIZE] }))).rejects.toMatchObject({
      isTransient: true,
      message: expect.stringContaining('in an unknown format'),
    })
  })
})
