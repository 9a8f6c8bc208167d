import { startServer } from './start-server.ts'

/** Says who the caller of AWS is: an ARN, or nothing at all. */
export async function startSts(arn: string | null) {
  return startServer((_, response) => {
    if (arn === null) return void response.destroy()
    response.writeHead(200, { 'Content-Type': 'text/xml' })
    response.end(
      `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>${arn}</Arn><UserId>U</UserId><Account>123456789012</Account></GetCallerIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></GetCallerIdentityResponse>`,
    )
  })
}
