/**
 * A model that responds at once, and the tool that it calls. It speaks the OpenAI chat completions API. The model name
 * `<steps>-<run>` says how many responses a run gets; the last one is the final answer. Response time does not depend
 * on the length of the conversation, so only the service can make long runs slower.
 */
import { serveAsChild } from '../harness/child-process.ts'

const MODEL_NAME = /"model":"(\d+)-([^"]+)"/
const TOOL_RESULT = '{"id":"o1","state":"shipped"}'
/** The model's name comes first in a request: the rest need not be kept. */
const HEAD_CHARACTERS = 1_000

const responses = new Map<string, number>()

serveAsChild((request, response) => {
  const send = (body: string, type = 'application/json', status = 200) => {
    response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body)
  }
  if (request.method === 'GET') return send(TOOL_RESULT)
  let head = ''
  request.on('data', (chunk: Buffer) => {
    if (head.length < HEAD_CHARACTERS) head += chunk.toString('latin1', 0, HEAD_CHARACTERS)
  })
  request.on('end', () => {
    const [, steps = '', run = ''] = MODEL_NAME.exec(head) ?? []
    if (run === '') return send('{"error":{"message":"Unknown model."}}', 'application/json', 400)
    const number = (responses.get(run) ?? 0) + 1
    responses.set(run, number)
    send(completion(number, number >= Number(steps)), 'text/event-stream')
  })
})

function completion(number: number, isLast: boolean): string {
  const [name, input] = isLast
    ? ['final_answer', { answer: 'It has been shipped.' }]
    : ['get_order', { id: 'o1' }]
  const call = {
    index: 0,
    id: `call_${number}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }
  const head = { id: `c${number}`, object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' }
  const toChoice = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
  const chunks = [
    toChoice({ role: 'assistant', content: 'Let me look.' }),
    toChoice({ tool_calls: [call] }),
    toChoice({}, 'tool_calls'),
    { ...head, choices: [], usage },
  ]
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
}
