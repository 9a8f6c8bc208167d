import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A bare HTTP server that answers every POST with what `run` makes of the JSON in it, and ends with its parent. */
export function answerPosts(run: (input: unknown) => Promise<unknown> | unknown): void {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', async () => {
      try {
        const body = JSON.stringify(await run(JSON.parse(text)))
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
        response.writeHead(200, headers).end(body)
      } catch (error) {
        response.writeHead(500).end(String(error))
      }
    })
  })
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1', () => {
    console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
  process.stdin.resume().on('end', () => process.exit(0))
}
