/**
 * `npm run test:aws`: the service on emulators of AWS that others maintain. Parts whose programs are
 * missing are skipped, unless TEST_AWS_REQUIRED is set. A part that fails does not stop the ones behind it.
 */
import { hasPython, installPython, MIN_PYTHON_MINOR } from '../support/processes/python-environment.ts'
import { findMissingJava } from './emulators/start-server.ts'
import { runDrill } from './restore/run-drill.ts'
import { testStack } from './stack/open-stack.ts'
import { testStoresAndApi } from './stores-and-api.ts'

const installPackages = () => installPython(new URL('requirements.txt', import.meta.url))

type Part = { title: string; missing: string[]; test: () => Promise<void> }

const missingPython = (await hasPython()) ? [] : [`Python 3.${MIN_PYTHON_MINOR} with venv`]
const parts: Part[] = [
  {
    title: 'the stores, the queue and the API on DynamoDB Local and ElasticMQ',
    missing: await findMissingJava(),
    test: testStoresAndApi,
  },
  {
    title: 'the stack in moto',
    missing: missingPython,
    test: async () => testStack((await installPackages())('moto_server')),
  },
  {
    title: 'the restore drill in moto',
    missing: missingPython,
    test: async () => runDrill((await installPackages())('moto_server')),
  },
]

for (const { title, missing, test } of parts) {
  if (missing.length > 0) {
    console.log(`test:aws: skipped: ${title}. Missing: ${missing.join(', ')}`)
    if (process.env.TEST_AWS_REQUIRED) process.exitCode = 1
    continue
  }
  console.log(`test:aws: ${title}`)
  const startedAt = performance.now()
  const passed = await test().then(
    () => true,
    (error: unknown) => void console.error(error),
  )
  if (!passed) process.exitCode = 1
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  console.log(`test:aws: ${passed ? 'passed' : 'FAILED'} in ${seconds} s: ${title}`)
}
