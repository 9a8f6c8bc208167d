import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasPython, installPython, MIN_PYTHON_MINOR } from '../support/processes/python-environment.ts'
import { createClient, getExecutionId } from '../support/service/client.ts'
import { startService } from '../support/service/start-service.ts'

/** `npm run test:schemathesis`: tests a service against the OpenAPI document that it serves. Skipped without Python. */

const HERE = fileURLToPath(new URL('.', import.meta.url))
const TOKEN = 'schemathesis-token'

if (await hasPython()) {
  const commandOf = await installPython(new URL('requirements.txt', import.meta.url))
  process.exitCode = await testService(commandOf('schemathesis'))
} else {
  console.log(`schemathesis: skipped, it needs Python 3.${MIN_PYTHON_MINOR} with venv`)
}

/** Returns the exit code of schemathesis. */
async function testService(command: string): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'aes-schemathesis-'))
  const service = await startService({ dataDir, environment: { PORT: '0', DEV_TOKEN: TOKEN } })
  try {
    const call = createClient(service.url, TOKEN)
    const body = { content: 'Write to ada@example.com.' }
    const response = await call('POST', '/v1/agents/redact-pii/executions', { body })
    const token = await call('POST', '/v1/tokens', { body: { name: 'to be revoked' } })
    const options = ['--config-file', join(HERE, 'schemathesis.toml'), 'run', '--url', service.url]
    const child = spawn(command, [...options, `${service.url}/v1/openapi.json`], {
      cwd: dataDir,
      env: {
        ...process.env,
        API_TOKEN: TOKEN,
        EXECUTION_ID: getExecutionId(response),
        TOKEN_ID: token.json.id,
        SCHEMATHESIS_HOOKS: join(HERE, 'hooks.py'),
      },
      stdio: 'inherit',
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return code ?? 1
  } finally {
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}
