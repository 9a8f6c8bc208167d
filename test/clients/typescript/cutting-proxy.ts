import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { seededRandom } from '../../support/data/random.ts'

/** Forwards connections, and breaks each after a random number of bytes of responses, until `limit` is reached. */
export async function startCuttingProxy(target: string, { seed, limit }: { seed: number; limit: number }) {
  const { hostname, port } = new URL(target)
  const random = seededRandom(seed, 'cuts')
  const sockets = new Set<Socket>()
  let cuts = 0
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let bytesLeft = cuts < limit ? random.between(1, 1_500) : Number.POSITIVE_INFINITY
    const close = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', close).on('close', () => {
        sockets.delete(socket)
        close()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (bytes) => {
      if (bytes.length < bytesLeft) {
        bytesLeft -= bytes.length
        client.write(bytes)
        return
      }
      cuts++
      client.write(bytes.subarray(0, bytesLeft), close)
      upstream.pause()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
