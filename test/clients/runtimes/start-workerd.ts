import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Starts workerd on a free port. It reports the port on a file descriptor. */
export async function startWorkerd(command: string, config: string) {
  const child = spawn(command, ['serve', config, '--control-fd=3'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const exited = once(child, 'exit')
  const [line] = await once(createInterface({ input: child.stdio[3] as Readable }), 'line')
  const { port } = JSON.parse(String(line)) as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
