import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { newSecret } from '../../../lib/tools/egress/sign-webhook.ts'
import { aWebhook } from '../../support/notifications/a-webhook.ts'

/** What a receiver does until it recovers: at the end of the kills. */
const KINDS = ['works', 'fails', 'hangs', 'redirects', 'closes'] as const

/** `problem`: why the signature is not valid. It is checked on arrival, because a signature ends after five minutes. */
type Received = { id: string; body: string; problem: string | null }

export type Receivers = Awaited<ReturnType<typeof startReceivers>>

/** Receivers of all kinds, and their webhooks. They run in the harness's own process, which is never killed. */
export async function startReceivers(table: Table, organizationId: string) {
  const { webhooks } = openStores(table)
  const stops: (() => void)[] = []
  let isHealthy = false
  let forbidden = 0
  const listen = async (host: string, listener: RequestListener): Promise<string> => {
    const server = createServer(listener)
    stops.push(() => {
      server.close()
      server.closeAllConnections()
    })
    await once(server.listen(0, host), 'listening')
    return `${host}:${(server.address() as AddressInfo).port}`
  }
  // The target of redirects, which no webhook allows.
  const target = await listen('localhost', (_, response) => {
    forbidden++
    response.writeHead(204).end()
  })
  const start = async (kind: (typeof KINDS)[number]) => {
    const requests: Received[] = []
    const secret = newSecret()
    const check = (body: string, headers: Record<string, string>) => {
      try {
        new Webhook(secret).verify(body, headers)
        return null
      } catch (error) {
        return String(error)
      }
    }
    const address = await listen('127.0.0.1', async (request, response) => {
      const body = await text(request)
      const isGood = isHealthy || kind === 'works'
      if (!isGood && kind === 'fails') return response.writeHead(500).end()
      if (!isGood && kind === 'redirects')
        return response.writeHead(307, { location: `http://${target}/` }).end()
      if (!isGood && kind === 'hangs') return
      const headers = request.headers as Record<string, string>
      requests.push({ id: headers['webhook-id'] ?? '', body, problem: check(body, headers) })
      return isGood ? response.writeHead(204).end() : response.destroy()
    })
    const webhook = aWebhook({ organizationId, url: `http://${address}/`, allowedHosts: [address] })
    await webhooks.create({ webhook })
    const secrets = [{ secret, createdAt: webhook.createdAt, expiresAt: null }]
    await webhooks.putSecrets({ organizationId, id: webhook.id, secrets, replaces: null })
    return { kind, secret, requests }
  }
  const receivers = await Promise.all(KINDS.map(start))
  return {
    /** What each receiver has noted so far. */
    received: () => receivers,
    /** Requests that reached the target of the redirects. */
    forbidden: () => forbidden,
    recover: () => {
      isHealthy = true
    },
    stop: async () => {
      for (const stop of stops) stop()
    },
  }
}
