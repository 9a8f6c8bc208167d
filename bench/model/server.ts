import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A model of 0 ms in a process of its own, and the tool that it has called. It speaks openai-compatible chat
 * completions and reads of a request no more than the model's name, `<steps>-<run>`: that many answers, the last of them
 * the final one. What it answers does not depend on how long the conversation has become.
 */
const MODEL_NAME = /"model":"(\d+)-([^"]+)"/
const TOOL_ANSWER = '{"id":"o1","state":"shipped"}'

const answered = new Map<string, number>()

const server = createServer((request, response) => {
  if (request.method === 'GET') return send(TOOL_ANSWER)
  let head = ''
  request.on('data', (chunk: Buffer) => {
    if (head.length < 1_000) head += chunk.toString('latin1', 0, 1_000)
  })
  request.on('end', () => {
    const [, steps = '', run = ''] = MODEL_NAME.exec(head) ?? []
    if (run === '') return send('{"error":{"message":"The request names no model of mine."}}', 400)
    const number = (answered.get(run) ?? 0) + 1
    answered.set(run, number)
    send(completion(number, number >= Number(steps)))
  })

  function send(body: string, status = 200): void {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    response.writeHead(status, headers).end(body)
  }
})

const completion = (number: number, isLast: boolean): string => {
  const [name, text] = isLast
    ? ['final_answer', '{\\"answer\\":\\"It is on its way.\\"}']
    : ['get_order', '{\\"id\\":\\"o1\\"}']
  return (
    `{"id":"c${number}","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,` +
    `"message":{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_${number}","type":"function",` +
    `"function":{"name":"${name}","arguments":"${text}"}}]},"finish_reason":"tool_calls"}],` +
    `"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`
  )
}

server.keepAliveTimeout = 65_000
server.listen(0, '127.0.0.1', () => {
  console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.stdin.resume().on('end', () => process.exit(0))
