import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStores } from '../../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../../lib/dynamodb/table/table.ts'
import { newSecret } from '../../../../lib/engine/notifications/sign-webhook.ts'
import { aWebhook } from '../../../support/notifications/a-webhook.ts'
import { freePort } from '../../../support/service/port-emulators.ts'

/** What a receiver does until it recovers: at the end of the kills. */
const KINDS = ['works', 'fails', 'hangs', 'redirects', 'closes', 'dies'] as const
type Kind = (typeof KINDS)[number]

/** A request that a receiver has noted. */
export type Received = { headers: Record<string, string>; body: string }

const RECEIVER = fileURLToPath(new URL('receiver.mjs', import.meta.url))
const HOST = '127.0.0.1'

/** Receivers of all kinds, each a process of its own that is started again when it dies, and their webhooks. */
export async function startReceivers({
  folder,
  table,
  organizationId,
}: {
  folder: string
  table: Table
  organizationId: string
}) {
  const { webhooks } = openStores(table)
  let forbidden = 0
  let recoveredAt = Number.POSITIVE_INFINITY
  // The target of redirects, which no webhook allows.
  const target = createServer((_, response) => {
    forbidden++
    response.writeHead(204).end()
  })
  await once(target.listen(0, 'localhost'), 'listening')
  const targetUrl = `http://localhost:${(target.address() as AddressInfo).port}/`
  let isStopping = false
  const start = async (kind: Kind) => {
    const port = await freePort()
    const log = join(folder, `${kind}.jsonl`)
    const current: { process: ChildProcess; deaths: number } = { process: run(), deaths: 0 }
    await once(current.process, 'message')
    function run(): ChildProcess {
      const child = fork(RECEIVER, [kind, String(port), log, targetUrl], { execArgv: [] })
      child.once('exit', () => {
        if (isStopping) return
        current.deaths++
        current.process = run()
      })
      return child
    }
    const secret = newSecret()
    const address = `${HOST}:${port}`
    const webhook = aWebhook({ organizationId, url: `http://${address}/`, allowedHosts: [address] })
    await webhooks.create({ webhook })
    const secrets = [{ secret, createdAt: webhook.createdAt, expiresAt: null }]
    await webhooks.putSecrets({ organizationId, id: webhook.id, secrets, replaces: null })
    return { kind, log, secret, id: webhook.id, current }
  }
  const receivers = await Promise.all(KINDS.map(start))
  return {
    deaths: () => receivers.reduce((sum, { current }) => sum + current.deaths, 0),
    /** Requests that reached the target of the redirects. */
    forbidden: () => forbidden,
    recover: () => {
      recoveredAt = Date.now()
      for (const { log } of receivers) writeFileSync(`${log}.recovered`, '')
    },
    /** Whether a request was sent while receivers failed. */
    isEarly: ({ headers }: Received) => Number(headers['webhook-timestamp']) * 1000 < recoveredAt,
    /** What each receiver has noted so far. */
    received: () =>
      receivers.map(({ kind, log, secret, id }) => ({
        kind,
        secret,
        id,
        requests: existsSync(log)
          ? readFileSync(log, 'utf8')
              .split('\n')
              .filter((line) => line !== '')
              .map((line) => JSON.parse(line) as Received)
          : [],
      })),
    async stop(): Promise<void> {
      isStopping = true
      for (const { current } of receivers) current.process.kill('SIGKILL')
      target.close()
    },
  }
}

export type Receivers = Awaited<ReturnType<typeof startReceivers>>
