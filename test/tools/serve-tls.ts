import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

/** An HTTPS server on `localhost` for one test, with its own certificate. */
export async function serveTls() {
  const folder = await mkdtemp(join(tmpdir(), 'aes-tls-'))
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  await promisify(execFile)('openssl', ['req', '-x509', ...key, ...subject, '-out', certificateFile])
  const certificate = await readFile(certificateFile, 'utf8')
  const server = createServer({ key: await readFile(keyFile), cert: certificate }, (_, response) =>
    response.end('over TLS'),
  )
  let connections = 0
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })
  const { port } = server.address() as AddressInfo
  return { host: `localhost:${port}`, port, certificate, connectionCount: () => connections }
}
