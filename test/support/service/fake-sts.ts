import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeNow } from '../../../local/emulators/private-socket.ts'

/** Says who the caller of AWS is: an ARN, or nothing at all. */
export async function startSts(arn: string | null) {
  const server = createServer((_, response) => {
    if (arn === null) return void response.destroy()
    response.writeHead(200, { 'Content-Type': 'text/xml' })
    response.end(
      `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>${arn}</Arn><UserId>U</UserId><Account>123456789012</Account></GetCallerIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></GetCallerIdentityResponse>`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => closeNow(server),
  }
}
