import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Emulator } from '../../../local/emulators/start-emulators.ts'
import { runCommand } from '../../support/processes/run-command.ts'
import { freePort } from '../../support/service/port-emulators.ts'
import { startServer } from './start-server.ts'

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
