import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openApiDocument } from '../../../lib/contract/openapi.ts'
import { findMissingJava } from '../../aws/emulators/start-server.ts'

/** Maven keeps it in its own cache. */
const VERSION = '7.17.0'
const GENERATOR = `org.openapitools:openapi-generator-cli:${VERSION}`
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
const MAVEN = ['--batch-mode', '--quiet']

const DOCUMENT = 'openapi.json'

const TIMEOUT_MS = 300_000
const MAX_OUTPUT_BYTES = 10_000_000

type Target = {
  language: string
  options: string[]
  command: string
  args: string[]
}

const TARGETS: Target[] = [
  {
    language: 'Java',
    options: ['--generator-name', 'java', '--library', 'native'],
    command: 'mvn',
    args: [...MAVEN, '-Dmaven.test.skip=true', 'compile'],
  },
  { language: 'Go', options: ['--generator-name', 'go'], command: 'go', args: ['build', './...'] },
]

/** Generates clients for Java and Go from the OpenAPI document, and compiles them. Prints what it skips, and why. */
export async function compileGeneratedClients(folder: string): Promise<void> {
  const missing = await findMissingJava()
  if (missing.length > 0) return skip('Java and Go', `OpenAPI Generator needs ${missing.join(' and ')}`)
  const generator = join(folder, `openapi-generator-cli-${VERSION}.jar`)
  try {
    await run('mvn', [...MAVEN, COPY, `-Dartifact=${GENERATOR}`, `-DoutputDirectory=${folder}`])
  } catch (error) {
    return skip('Java and Go', `Maven cannot download ${GENERATOR}: ${firstLine(error)}`)
  }
  writeFileSync(join(folder, DOCUMENT), JSON.stringify(openApiDocument()))
  for (const target of TARGETS) await compile(target, { folder, generator })
}

async function compile(
  { language, options, command, args }: Target,
  { folder, generator }: { folder: string; generator: string },
): Promise<void> {
  if (!(await isInstalled(command))) return skip(language, `it needs ${command}`)
  const output = join(folder, language)
  const sources = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'
  const generate = [
    'generate',
    '--input-spec',
    join(folder, DOCUMENT),
    '--output',
    output,
    '--global-property',
    sources,
  ]
  await run('java', ['-jar', generator, ...generate, ...options])
  await run(command, args, output)
  console.log(`${language}: the generated client compiles`)
}

const skip = (what: string, reason: string) => console.log(`${what}: skipped, ${reason}`)

const isInstalled = (command: string): Promise<boolean> =>
  run(command, [command === 'go' ? 'version' : '-version']).then(
    () => true,
    () => false,
  )

/** @throws an Error with what the program printed */
async function run(command: string, args: string[], cwd?: string): Promise<void> {
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, ...(cwd && { cwd }) }
  await promisify(execFile)(command, args, options).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${command} failed: ${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
    },
  )
}

const firstLine = (error: unknown): string => (error as Error).message.split('\n')[0] ?? ''
