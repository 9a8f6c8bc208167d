/**
 * A receiver of webhooks that notes each request in a file before it answers. Until the file `<log>.recovered` exists,
 * it behaves as its kind says, and `dies` in the middle of requests.
 * Arguments: kind, port, log, URL of a redirect.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'

const [kind, port, log, target] = process.argv.slice(2)
const random = () => Math.random() < 0.3

createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const isHealthy = existsSync(`${log}.recovered`) || kind === 'works'
    const answer = (status, headers = {}) => response.writeHead(status, headers).end()
    if (!isHealthy && kind === 'fails') return answer(500)
    if (!isHealthy && kind === 'redirects') return answer(307, { location: target })
    if (!isHealthy && kind === 'hangs') return undefined
    const { headers } = request
    appendFileSync(log, `${JSON.stringify({ headers, body: Buffer.concat(chunks).toString('utf8') })}\n`)
    if (!isHealthy && kind === 'closes') return response.destroy()
    if (!isHealthy && kind === 'dies' && random()) return process.kill(process.pid, 'SIGKILL')
    return answer(204)
  })
}).listen(Number(port), '127.0.0.1', () => process.send?.('ready'))
