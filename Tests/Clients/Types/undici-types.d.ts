// Debian's @types/node refers to this module, which no package has. The declarations of the client don't use it.
declare module 'undici-types' {
  export type BodyInit = any;
  export const BodyInit: any;
  export type Dispatcher = any;
  export const Dispatcher: any;
  export type FormData = any;
  export const FormData: any;
  export type Headers = any;
  export const Headers: any;
  export type HeadersInit = any;
  export const HeadersInit: any;
  export type ReferrerPolicy = any;
  export const ReferrerPolicy: any;
  export type Request = any;
  export const Request: any;
  export type RequestCredentials = any;
  export const RequestCredentials: any;
  export type RequestDuplex = any;
  export const RequestDuplex: any;
  export type RequestInfo = any;
  export const RequestInfo: any;
  export type RequestInit = any;
  export const RequestInit: any;
  export type RequestMode = any;
  export const RequestMode: any;
  export type RequestRedirect = any;
  export const RequestRedirect: any;
  export type Response = any;
  export const Response: any;
}
