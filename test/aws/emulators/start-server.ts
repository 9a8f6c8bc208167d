import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pRetry from 'p-retry'
import type { Emulator } from '../../../local/emulators/start-emulators.ts'
import { runCommand } from '../../support/processes/processes.ts'
import { freePort, spawnEmulator } from '../../support/service/port-emulators.ts'

const MAX_START_MS = 60_000
const INTERVAL_MS = 100

type Options = {
  name: string
  endpoint: string
  command: string
  args: string[]
  environment?: Record<string, string>
}

/** Starts an emulator and waits for its first HTTP response. @throws an Error with its output when it exits first */
async function startServer(options: Options): Promise<Emulator> {
  const { name, endpoint, command, args, environment } = options
  // Java programs write their log, which says why they stopped, to standard output.
  const script = ['-c', 'exec "$@" >&2', 'sh', command, ...args]
  const { exited, stop } = spawnEmulator('sh', script, environment)
  const exit = new AbortController()
  void exited.then((errors) => exit.abort(new Error(`${name} exited:\n${errors}`)))
  try {
    const waiting = { retries: MAX_START_MS / INTERVAL_MS, minTimeout: INTERVAL_MS, factor: 1 }
    await pRetry(() => fetch(endpoint), { ...waiting, maxRetryTime: MAX_START_MS, signal: exit.signal })
  } catch (error) {
    await stop()
    throw error
  }
  return { name, endpoint, stop }
}

const POM = fileURLToPath(new URL('pom.xml', import.meta.url))

/** What DynamoDB Local needs. */
const MIN_JAVA = 17

const run = promisify(execFile)

/** The programs among Java and Maven that are missing or too old. */
export async function findMissingJava(): Promise<string[]> {
  // Java prints its version to standard error: openjdk version "17.0.15" 2025-04-15
  const java = await run('java', ['-version']).then(
    ({ stderr }) => Number(/version "(\d+)/.exec(stderr)?.[1]) >= MIN_JAVA,
    () => false,
  )
  const maven = await run('mvn', ['-version']).then(
    () => true,
    () => false,
  )
  return [...(java ? [] : [`Java ${MIN_JAVA}`]), ...(maven ? [] : ['Maven'])]
}

/** Downloads the emulators of the pom, unless Maven has them. @returns their class path */
export async function resolveClassPath(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-class-path-'))
  const file = join(folder, 'class-path')
  try {
    console.log('Maven: resolving DynamoDB Local and ElasticMQ (the first time, about 100 MB)')
    const options = ['--batch-mode', '--quiet', '--strict-checksums', '--file', POM]
    await runCommand('mvn', [...options, 'dependency:build-classpath', `-Dmdep.outputFile=${file}`])
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocal.UsageNotes.html */
export async function startDynamoDBLocal(classPath: string): Promise<Emulator> {
  const port = String(await freePort())
  const main = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'
  return startServer({
    name: 'DynamoDB Local',
    endpoint: `http://127.0.0.1:${port}`,
    command: 'java',
    args: ['-cp', classPath, main, '-inMemory', '-sharedDb', '-disableTelemetry', '-port', port],
  })
}

/** https://github.com/softwaremill/elasticmq#elasticmq-via-docker describes the settings. */
export async function startElasticMq(classPath: string): Promise<Emulator> {
  const port = String(await freePort())
  const settings = {
    'rest-sqs.bind-hostname': '127.0.0.1',
    'rest-sqs.bind-port': port,
    'rest-stats.enabled': 'false',
    // The address in the URLs of queues.
    'node-address.host': '127.0.0.1',
    'node-address.port': port,
  }
  const properties = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)
  return startServer({
    name: 'ElasticMQ',
    endpoint: `http://127.0.0.1:${port}`,
    command: 'java',
    args: [...properties, '-cp', classPath, 'org.elasticmq.server.Main'],
  })
}

/** The account of moto. */
export const ACCOUNT = '123456789012'
export const REGION = 'us-east-1'

/** Starts the AWS emulator with the `moto_server` command of a Python environment. */
export async function startMoto(command: string): Promise<Emulator> {
  const port = String(await freePort())
  return startServer({
    name: 'moto',
    // Moto recognizes the URL of the template in its S3 by this host name.
    endpoint: `http://localhost:${port}`,
    command,
    args: ['-H', '127.0.0.1', '-p', port],
  })
}

/** With which the AWS SDK and the CDK use moto. They ignore profiles and credentials of the user. */
export const motoEnvironment = ({ endpoint }: Emulator): Record<string, string> => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'moto',
  AWS_SECRET_ACCESS_KEY: 'moto',
})
